"""Opens a page of another origin with the widget on it in Chromium, for widget.rs.

widget_client.py SERVER_URL

Prints "origin URL" first and waits for the key to be used to arrive on standard input; then prints one JSON
object with what the browser saw.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import sync_playwright

PAGE = """<!doctype html><html lang="en"><title>A shop</title>
<meta name="color-scheme" content="light dark">
<main><article data-uptake-turn="t1"><p id="answer">Returns are free for 30 days.</p>
<a href="#terms" data-uptake="click" data-uptake-target="doc-terms">terms</a></article>
</main>
<script src="SERVER/widget.js" data-key="KEY" data-conversation="c1" data-up="Gut"></script>
<script src="SERVER/widget.js" data-key="KEY" data-conversation="c1"></script>"""

SENT = "JSON.parse(Object.values(localStorage)[0]).length === 0"


class Shop(BaseHTTPRequestHandler):
    page = b""
    policy = ""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", self.policy)
        self.end_headers()
        self.wfile.write(self.page if self.path == "/" else b"<!doctype html><title>Elsewhere</title>")

    def log_message(self, *arguments):
        pass


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def until(page, condition):
    """Polls a condition; `wait_for_function` would evaluate text in the page, which its policy forbids."""
    for _ in range(1200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not within a minute: {condition}")


def visit(browser, origin):
    context = browser.new_context()
    # Enough for a busy machine.
    context.set_default_timeout(120_000)
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(origin)
    bars = page.locator("uptake-feedback").count()
    press(page, "Gut")
    press(page, "Bad answer")
    pressed = page.locator("button[aria-pressed=true]").count()
    # With the keyboard only.
    page.get_by_role("button", name="Comment", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.type("I wanted the German terms")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    thanks = page.get_by_role("status").first.text_content()
    page.locator("[data-uptake=click]").click()
    page.evaluate("getSelection().selectAllChildren(document.getElementById('answer'))")
    page.evaluate("document.execCommand('copy')")
    page.evaluate("uptake.track('export', 'returns.csv')")
    # An answer that is added later.
    page.evaluate("""() => { const late = document.createElement('article');
        late.dataset.uptakeTurn = 't2'; late.textContent = 'And exchanges too.';
        document.querySelector('main').append(late); }""")
    page.locator("article[data-uptake-turn=t2] uptake-feedback").wait_for(state="attached")
    # While offline, feedback waits and is sent once when online. Earlier feedback is sent by then.
    until(page, SENT)
    context.set_offline(True)
    page.evaluate("uptake.track('regenerate', document.querySelector('article[data-uptake-turn=t2]'))")
    page.wait_for_timeout(200)
    waiting = page.evaluate("JSON.parse(Object.values(localStorage)[0]).length")
    context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    until(page, SENT)
    page.wait_for_timeout(1100)
    page.goto(origin + "/elsewhere")
    page.wait_for_timeout(300)
    # Feedback that could not be sent on unload is sent by the next page.
    page.goto(origin)
    until(page, SENT)
    context.close()
    return {"bars": bars, "pressed": pressed, "thanks": thanks, "waiting": waiting, "said": said}


def main():
    server = sys.argv[1]
    shop = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    origin = f"http://127.0.0.1:{shop.server_port}"
    Shop.policy = f"default-src 'none'; script-src {server}; connect-src {server}"
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    print(f"origin {origin}", flush=True)
    key = sys.stdin.readline().strip()
    Shop.page = PAGE.replace("SERVER", server).replace("KEY", key).encode()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments, timeout=120_000)
        print(json.dumps(visit(browser, origin)), flush=True)
        browser.close()


main()
