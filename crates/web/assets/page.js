// Optional enhancements; every page works without this script: local times, keyboard shortcuts,
// live metrics.
(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('js');

  const styles = {
    day: { month: 'short', day: 'numeric' },
    minute: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  };
  const localTimes = (within) => {
    for (const time of within.querySelectorAll('time[data-shown]')) {
      const date = new Date(time.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      // Daily buckets are UTC days, so a local date could be off by one.
      const zone = time.dataset.shown === 'day' ? { timeZone: 'UTC' } : {};
      time.textContent = new Intl.DateTimeFormat(undefined, { ...styles[time.dataset.shown], ...zone }).format(date);
      time.title = date.toLocaleString();
    }
  };
  localTimes(document);

  // On a narrow screen the navigation scrolls sideways; bring the current view into sight.
  const views = document.querySelector('.views');
  const shown = views?.querySelector('[aria-current]');
  if (shown) views.scrollLeft = shown.offsetLeft - views.clientWidth / 2 + shown.clientWidth / 2;

  for (const form of document.querySelectorAll('form[data-auto]')) {
    form.addEventListener('change', (event) => { if (event.target.matches('select')) form.requestSubmit(); });
    form.addEventListener('submit', () => {
      for (const field of form.querySelectorAll('select, input')) if (field.value === '') field.disabled = true;
    });
  }
  window.addEventListener('pageshow', () => {
    for (const field of document.querySelectorAll('form[data-auto] :disabled')) field.disabled = false;
  });

  // Keyboard shortcuts
  const rows = () => [...document.querySelectorAll('[data-row]')];
  const current = () => document.querySelector('[data-row].here');
  const select = (row) => {
    if (!row) return;
    current()?.classList.remove('here');
    row.classList.add('here');
    (row.querySelector('[data-open]') ?? row).focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
  };
  const move = (by) => {
    const all = rows();
    const at = all.indexOf(current());
    select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)]);
  };
  const press = (name) => {
    const row = current() ?? (rows().length === 1 ? rows()[0] : null);
    const button = row?.querySelector(`[data-key="${name}"]`);
    if (!button) return false;
    if (button.tagName === 'SUMMARY') {
      button.parentElement.open = true;
      button.parentElement.querySelector('textarea')?.focus();
    } else button.click();
    return true;
  };
  const dialog = document.getElementById('keys');
  const help = () => { if (dialog?.showModal && !dialog.open) dialog.showModal(); };
  document.querySelector('[data-help]')?.addEventListener('click', (event) => { event.preventDefault(); help(); });
  let going = 0;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest('input, textarea, select')) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    if (dialog?.open) return;
    const done = () => event.preventDefault();
    if (going && Date.now() - going < 1500) {
      going = 0;
      const view = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (view) { done(); view.click(); }
      return;
    }
    switch (event.key) {
      case '?': done(); help(); break;
      case 'g': going = Date.now(); break;
      case '/': { const field = document.querySelector('input[type=search]'); if (field) { done(); field.focus(); field.select(); } break; }
      case 'j': done(); move(1); break;
      case 'k': done(); move(-1); break;
      case 'y': case 'x': case 'c': if (press(event.key)) done(); break;
      case '+': case '=': if (press('+')) done(); break;
      case '-': case '−': if (press('-')) done(); break;
    }
  });
  // Select the turn named in the URL fragment.
  const named = (() => {
    // decodeURIComponent throws on a malformed escape sequence.
    try { return document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return null; }
  })();
  if (named?.matches('[data-row]')) select(named);

  // Live metrics: reload the marked sections when an event is stored.
  const live = document.querySelector('[data-live]');
  if (live && 'EventSource' in window) {
    let busy = false, again = false;
    const refresh = async () => {
      if (busy || document.hidden) { again = true; return; }
      busy = true; again = false;
      try {
        const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, credentials: 'same-origin' });
        if (answer.ok && !answer.redirected) {
          const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
          for (const old of document.querySelectorAll('[data-live]')) {
            const found = fresh.getElementById(old.id);
            if (!found || old.contains(document.activeElement)) continue;
            const open = [...old.querySelectorAll('details')].map((one) => one.open);
            old.replaceChildren(...document.importNode(found, true).childNodes);
            [...old.querySelectorAll('details')].forEach((one, place) => { one.open = open[place] ?? false; });
            localTimes(old);
          }
        }
      } catch { /* The next event retries. */ }
      busy = false;
    };
    // Resume at the log position of this page, so that no event in between is missed.
    const parameters = new URLSearchParams(location.search);
    parameters.set('position', document.getElementById('main').dataset.position);
    const source = new EventSource(`/live?${parameters}`);
    source.addEventListener('stored', refresh);
    document.addEventListener('visibilitychange', () => { if (!document.hidden && again) refresh(); });
  }
})();
