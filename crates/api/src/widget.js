/* Uptake's feedback widget, documented in docs/widget.md. Comments and indentation are not served. */
(() => {
  const script = document.currentScript;
  // A second inclusion of the script does nothing.
  if (window.uptake || !script) return;
  const set = script.dataset;
  const url = new URL('/api/v1/feedback', script.src);
  const place = 'uptake:' + set.key;

  // The queue survives the page. Ids make retries idempotent.
  let queue = [], sending = false;
  try { queue = JSON.parse(localStorage.getItem(place)) || []; } catch { }
  const keep = () => { try { localStorage.setItem(place, JSON.stringify(queue)); } catch { } };

  const flush = async () => {
    if (sending) return;
    sending = true;
    while (queue.length) {
      const [id, body] = queue[0];
      let status = 0;
      try {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': id };
        if (set.key) headers['X-API-Key'] = set.key;
        status = (await fetch(url, { method: 'POST', headers, body, keepalive: true })).status;
      } catch { }
      if (!status || status == 429 || status > 499) {
        setTimeout(flush, 9000);
        break;
      }
      if (status > 399) console.warn('uptake: refused, ' + status);
      queue = queue.filter((one) => one[0] != id);
      keep();
    }
    sending = false;
  };

  const send = (turn, type, source, data) => {
    const event = { type, source, category: 'user_satisfaction', message_id: turn, data };
    // Read for each event, because the application may change them.
    if (set.conversation) event.session_id = set.conversation;
    if (set.user) event.user_id = set.user;
    const id = 'w-' + crypto.getRandomValues(new Uint32Array(4)).join('-');
    queue = [...queue.slice(-49), [id, JSON.stringify(event)]];
    keep();
    flush();
  };

  const ANSWER = '[data-uptake-turn]';
  const answers = () => document.querySelectorAll(ANSWER);
  const act = (turn, data) => send(turn, 'interaction', 'user_interaction', data);
  const kinds = { click: 'result_interaction', dashboard: 'dashboard_add' };

  // `target` is an element in the answer, or a name. The turn defaults to the last answer.
  const track = (kind, target, turn) => {
    const element = target?.closest && target;
    const answer = element ? element.closest(ANSWER) : [...answers()].pop();
    turn ||= answer?.dataset.uptakeTurn;
    if (!turn) return false;
    const name = element ? element.dataset.uptakeTarget || element.getAttribute('href') : target;
    const data = { kind: kinds[kind] || kind };
    if (name) data.target = String(name).slice(0, 500);
    act(turn, data);
    return true;
  };

  // No animations, the colours of the page, and allowed by a strict style-src policy.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:host{display:block;font:14px system-ui}
    div{display:flex;flex-flow:wrap;gap:.3em;margin-top:.3em}
    button,textarea{font:inherit;color:inherit;background:none;border:1px solid transparent;border-radius:.4em}
    button{padding:.3em .5em;cursor:pointer}
    button:hover,[aria-pressed=true],textarea,.send{border-color:currentColor}
    [aria-pressed=true] path{fill:currentColor}
    textarea{flex:1 1 14em}
    :focus-visible{outline:2px solid Highlight}
    svg{width:1.3em;fill:none;stroke:currentColor;stroke-width:2}
    .down svg{rotate:180deg}
    [hidden]{display:none}`);

  const make = (parent, tag, attributes) => {
    const made = /svg|path/.test(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    return parent.appendChild(made);
  };
  const THUMB = 'M7 21V11l4-8c2 0 3 1 3 3v4h6l-2 11H7zM3 11h4v10H3z';
  const button = (bar, name, words, path, press) => {
    const title = set[name] || words;
    const made = make(bar, 'button', { type: 'button', class: name, title, 'aria-label': title });
    made.onclick = press;
    if (path) make(make(made, 'svg', { viewBox: '0 0 24 24' }), 'path', { d: path });
    else made.textContent = title;
    return made;
  };

  const attach = (answer) => {
    if (seen.has(answer)) return;
    seen.set(answer, { sum: 0 });
    watch.observe(answer);
    if ('uptakeBare' in answer.dataset) return;
    const say = (source, data) => send(answer.dataset.uptakeTurn, 'explicit', source, data);
    const root = make(answer, 'uptake-feedback').attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    const bar = make(root, 'div', { role: 'group', 'aria-label': set.group || 'Feedback' });
    const form = make(root, 'div', { hidden: '' });
    const thanks = make(root, 'div', { role: 'status' });
    const rate = (rating) => ({ currentTarget }) => {
      if (currentTarget.ariaPressed == 'true') return;
      for (const one of [up, down]) one.ariaPressed = one == currentTarget;
      say('user_rating', { rating });
    };
    const up = button(bar, 'up', 'Good answer', THUMB, rate('positive'));
    const down = button(bar, 'down', 'Bad answer', THUMB, rate('negative'));
    up.ariaPressed = down.ariaPressed = false;
    const open = button(bar, 'comment', 'Comment', 'M4 4h16v12H9l-5 4z', () => {
      form.hidden = !form.hidden;
      open.ariaExpanded = !form.hidden;
      (form.hidden ? open : text).focus();
    });
    open.ariaExpanded = false;
    const text = make(form, 'textarea', { maxlength: 1000, 'aria-label': open.title });
    button(form, 'send', 'Send', '', () => {
      const comment = text.value.trim();
      if (comment) {
        say('user_comment', { comment });
        text.value = '';
        thanks.textContent = set.thanks || 'Thank you!';
      }
      open.click();
    });
  };

  // Dwell time: sent once per answer, when the visitor leaves the page.
  const seen = new Map();
  const pause = (times) => {
    if (times.since) times.sum += performance.now() - times.since;
    times.since = 0;
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      pause(seen.get(target));
      if (isIntersecting) seen.get(target).since = performance.now();
    }
  });
  const leave = () => {
    for (const [answer, times] of seen) {
      pause(times);
      if (times.sum < 1000 || times.told) continue;
      times.told = true;
      act(answer.dataset.uptakeTurn, { kind: 'dwell_time', dwell_ms: Math.round(times.sum) });
    }
  };

  const look = () => answers().forEach(attach);
  const on = (what, then) => document.addEventListener(what, then);
  addEventListener('online', flush);
  // The last event that browsers fire when a page is closed.
  on('visibilitychange', () => document.hidden && leave());
  on('copy', () => {
    const answer = getSelection().anchorNode?.parentElement?.closest(ANSWER);
    if (answer) track('copy', answer);
  });
  on('click', ({ target }) => {
    const marked = target.closest?.('[data-uptake]');
    if (marked) track(marked.dataset.uptake, marked);
  });
  window.uptake = { track };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributeFilter: ['data-uptake-turn'] });
  look();
  flush();
})();
