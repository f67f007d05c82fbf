"""First contentful paint of views in Chromium, for the section `page`.

paint.py JSON   where JSON has url, key and views. Prints {view: milliseconds}: the median of several visits,
each with an empty cache.
"""

import json
import statistics
import sys

from playwright.sync_api import sync_playwright

VISITS = 5
PAINTED = """() => new Promise((tell) => {
  const look = () => {
    const found = performance.getEntriesByName('first-contentful-paint')[0];
    found ? tell(found.startTime) : requestAnimationFrame(look);
  };
  look();
})"""


def main():
    what = json.loads(sys.argv[1])
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for view in what["views"]:
            times = []
            for _ in range(VISITS):
                context = browser.new_context(
                    viewport={"width": 1440, "height": 900}, extra_http_headers={"X-API-Key": what["key"]}
                )
                page = context.new_page()
                page.goto(what["url"] + view, wait_until="load")
                times.append(page.evaluate(PAINTED))
                context.close()
            found[view] = statistics.median(times)
        browser.close()
    print(json.dumps(found))


main()
