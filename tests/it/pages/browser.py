"""Checks pages in Chromium, for browser.rs.

browser.py URL JSON   where JSON says what to do: sweep, review, worst, login, live or learn.

Prints {"checked": N, "troubles": [...]}: what is not as it should be.
"""

import json
import pathlib
import re
import sys
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError as TooLate
from playwright.sync_api import expect, sync_playwright

# In milliseconds; enough for a busy machine.
WAIT_TIMEOUT = 120_000
SIZES = {"wide": (1440, 900), "narrow": (400, 800)}
SCHEMES = ("light", "dark")


class Watch:
    """A browser page that records every error."""

    def __init__(self, browser, url, size="wide", scheme="light", script=True):
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=script
        )
        self.context.set_default_timeout(WAIT_TIMEOUT)
        self.url, self.width, self.troubles, self.where = url, width, [], ""
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.note(f"console: {said.text}") if said.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.note(f"script: {error}"))
        self.page.on("requestfailed", self.failed)
        self.page.on("request", lambda asked: self.note(f"outside: {asked.url}") if not asked.url.startswith(url) else None)
        self.page.on("response", lambda got: self.note(f"{got.status} {got.url}") if got.status >= 400 else None)
        self.page.on("dialog", lambda dialog: (self.note(f"dialog: {dialog.message}"), dialog.dismiss()))

    def failed(self, asked):
        # Leaving a page aborts its event stream, its metric refresh and its icon request.
        of_page = asked.resource_type == "fetch" or "/live" in asked.url or "/assets/icon-" in asked.url
        if not (of_page and asked.failure == "net::ERR_ABORTED"):
            self.note(f"failed: {asked.url} {asked.failure}")

    def note(self, trouble):
        self.troubles.append(f"{self.where}: {trouble}")

    def expect(self, truth, what):
        if not truth:
            self.note(f"expected {what}")

    def open(self, path):
        self.where = path
        self.page.goto(self.url + path, wait_until="load")

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def go(self, key, address):
        """Presses `g` and a key within 1.5 seconds; retries on a stalled machine."""
        for _ in range(20):
            self.page.keyboard.press("g")
            self.page.keyboard.press(key)
            try:
                return self.page.wait_for_url(address, timeout=WAIT_TIMEOUT / 20)
            except TooLate:
                pass
        raise TooLate(f"g {key} does not lead to {address}")


def name_of(path):
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "overview"


def sweep(browser, url, what):
    """Every view, at every size, in both colour schemes."""
    screens = pathlib.Path(what["screens"])
    screens.mkdir(parents=True, exist_ok=True)
    troubles, checked = [], 0
    for size in what.get("sizes", SIZES):
        for scheme in what.get("schemes", SCHEMES):
            watch = Watch(browser, url, size, scheme)
            for path in what["views"]:
                watch.open(path)
                # Slow parts are computed in the background, and the page reloads by itself.
                while (sought := watch.page.locator(".empty[role=status]")).count():
                    expect(sought).to_have_count(0, timeout=WAIT_TIMEOUT)
                    watch.page.wait_for_load_state()
                watch.where = f"{path} {size} {scheme}"
                # Folded sections are checked too.
                watch.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                wide = watch.page.evaluate("document.documentElement.scrollWidth")
                watch.expect(wide <= watch.width, f"no scrolling sideways, got {wide}")
                watch.expect(watch.page.evaluate("window.hacked") is None, "no script in a text to run")
                watch.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
                # Without keys, the page shows how to create one.
                if what.get("full") and path != "/system":
                    watch.expect(not watch.page.locator(".empty").count(), "something to be shown")
                for found in Axe().run(watch.page).response["violations"]:
                    if found["impact"] in ("serious", "critical"):
                        places = [node["html"][:160] for node in found["nodes"][:3]]
                        watch.note(f"axe {found['id']}: {places}")
                watch.page.screenshot(path=screens / f"{name_of(path)}-{size}-{scheme}.png", full_page=True)
                checked += 1
            troubles += watch.troubles
            watch.context.close()
    # And without script.
    watch = Watch(browser, url, script=False)
    for path in what["views"]:
        watch.open(path)
        watch.expect(watch.page.locator("h1").count() == 1, "a heading without a script")
        checked += 1
    return checked, troubles + watch.troubles


def review(browser, url, what):
    """The worst conversation, its evidence, and a flipped verdict, with the keyboard only."""
    watch = Watch(browser, url)
    page = watch.page
    watch.open("/")
    rejected = watch.text("#rejection_rate .figure-value")
    page.keyboard.press("?")
    watch.expect(page.locator("#keys").is_visible(), "the list of keys")
    page.keyboard.press("Escape")
    watch.go("c", "**/conversations*")
    page.get_by_label("Order").select_option("worst")
    page.wait_for_url("**order=worst*")
    watch.expect("thumbs down" in watch.text(".row"), "the worst first")
    page.get_by_label("Search").fill("c-dates")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=c-dates*")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/c-dates*")
    marks = page.locator("#turn-dates-1 blockquote mark").all_inner_texts()
    watch.expect(marks == ["No"], f"the evidence marked, got {marks}")
    watch.expect("rejected" in watch.text("#turn-dates-1 .verdict-line"), "a rejected answer")
    while not page.locator("#turn-dates-1.here").count():
        page.keyboard.press("k")
    with page.expect_navigation():
        page.keyboard.press("x")
    watch.expect("Verdict changed" in watch.text(".notice"), "the notice that the verdict was flipped")
    watch.expect("accepted" in watch.text("#turn-dates-1 .verdict-line"), "an accepted answer")
    page.keyboard.press("j")
    with page.expect_navigation():
        page.keyboard.press("+")
    page.keyboard.press("c")
    page.keyboard.type("By order date: 7.")
    with page.expect_navigation():
        page.locator("#turn-dates-2 .correct button").click()
    watch.expect("By order date: 7." in watch.text("#turn-dates-2 .given"), "the correction to be there")
    watch.open("/")
    now = watch.text("#rejection_rate .figure-value")
    watch.expect(now != rejected, f"the rate to move from {rejected}")
    return 1, watch.troubles


# Verdicts of the detectors, with their evidence.
JUDGED = ".turn.edge-bad:has(.why blockquote mark):has([data-key=x]:has-text('Flip to accepted'))"


def worst(browser, url, what):
    """In a month of conversations: the worst of the last day, its evidence, and a flipped verdict."""
    watch = Watch(browser, url)
    page = watch.page
    # On a quiet Sunday there may be no complaint; then use the last week.
    for days, name in [(1, "24 h"), (7, "7 days")]:
        watch.open("/")
        page.get_by_role("link", name=name).click()
        page.wait_for_url(f"**days={days}*")
        rejected = watch.text("#rejection_rate .figure-value")
        if open_worst(watch, days):
            break
    turn = page.locator(JUDGED).first
    name = turn.get_attribute("id")
    said = turn.locator(".why blockquote").inner_text()
    words = turn.locator(".why blockquote mark").all_inner_texts()
    watch.expect(words and all(word in said for word in words), f"the evidence in what was said, got {words} in {said}")
    watch.expect("confidence" in turn.locator(".meter-line").inner_text(), "the detector's confidence")
    here = page.locator(f"[id='{name}'].here")
    for key in ["k"] * 60 + ["j"] * 60:
        if here.count():
            break
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("x")
    watch.expect("Verdict changed" in watch.text(".notice"), "the notice that the verdict was flipped")
    watch.expect("accepted" in watch.text(f"[id='{name}'] .verdict-line"), "an accepted answer")
    watch.open(f"/?days={days}")
    now = watch.text("#rejection_rate .figure-value")
    # One of a week's answers may be too little to change the rounded rate.
    watch.expect(days > 1 or now != rejected, f"the rate to move from {rejected}")
    return 1, watch.troubles


def open_worst(watch, days):
    """Opens the worst conversation of these days with a detected verdict; false when there is none."""
    page = watch.page
    watch.go("c", f"**/conversations?days={days}*")
    page.get_by_label("Show").select_option("rejected")
    page.wait_for_url("**show=rejected*")
    page.get_by_label("Order").select_option("worst")
    page.wait_for_url("**order=worst*")
    listed = page.url
    for place in range(page.locator(".row").count()):
        for _ in range(place + 1):
            page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations/demo-*")
        if page.locator(JUDGED).count():
            return True
        page.goto(listed)
    return False


def login(browser, url, what):
    """Login with a key, and logout."""
    watch = Watch(browser, url)
    page = watch.page
    watch.open("/conversations")
    watch.expect("/login" in page.url, "the door")
    page.screenshot(path=pathlib.Path(what["screens"]) / "login-wide-light.png")
    page.get_by_label("API key").fill(what["key"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations")
    watch.expect(page.locator("[data-key=x]").count() == 0, "no forms for who may only read")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    watch.open("/")
    watch.expect("/login" in page.url, "the door again")
    return 1, watch.troubles


def live(browser, url, what):
    """A turn that arrives while the page is open is counted on it."""
    watch = Watch(browser, url)
    # Events stored before the page listens are not reported.
    with watch.page.expect_response("**/live*"):
        # An address with an unknown parameter must still work.
        watch.open("/#%")
    before = watch.text(".lead-value a >> nth=0")
    turns = watch.page.locator(".lead .card:nth-child(2) .lead-value > a")
    had = turns.inner_text()
    body = {"conversation_id": "c-live", "turn_id": "live-1", "text": "Is this live?", "response": "It is."}
    request = urllib.request.Request(url + "/api/v1/turns", json.dumps(body).encode(), {"Content-Type": "application/json", "X-Uptake-Project": what["project"]})
    urllib.request.urlopen(request).read()
    expected = str(int(had) + 1)
    # Not `wait_for_function`, which evaluates text in the page, as its policy forbids.
    expect(turns).to_have_text(expected, timeout=WAIT_TIMEOUT)
    watch.expect(before == watch.text(".lead-value a >> nth=0"), "the other figures to stay")
    return 1, watch.troubles


def learn(browser, url, what):
    """An experiment from a failure pattern, and pairs as a file."""
    watch = Watch(browser, url)
    page = watch.page
    watch.open("/failures")
    page.get_by_role("button", name="Start an experiment").first.click()
    page.wait_for_url("**/experiments*")
    watch.expect("Experiment created" in watch.text(".notice"), "the notice that the experiment is defined")
    page.get_by_role("button", name="start").click()
    page.wait_for_url("**done=moved*")
    watch.expect("running" in watch.text(".pattern-head"), "a running experiment")
    watch.open("/data")
    with page.expect_download() as download:
        page.get_by_role("link", name="dpo", exact=True).click()
    watch.expect(download.value.suggested_filename == "dpo.jsonl", "a file of pairs")
    rows = pathlib.Path(download.value.path()).read_text().splitlines()
    watch.expect(all("chosen" in json.loads(row) for row in rows) and rows, f"rows with a better answer, got {rows[:1]}")
    return 1, watch.troubles


def main():
    url, what = sys.argv[1], json.loads(sys.argv[2])
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root, and tests run as root in containers.
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"], timeout=WAIT_TIMEOUT
        )
        parts = {"sweep": sweep, "review": review, "worst": worst, "login": login, "live": live, "learn": learn}
        checked, troubles = parts[what["do"]](browser, url, what)
        browser.close()
    print(json.dumps({"checked": checked, "troubles": troubles}))


main()
