"""Takes compressed screenshots of pages with demo data: screenshots.py URL FOLDER."""

import io
import pathlib
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

# Name, path, colour scheme and height.
PICTURES = [
    ("overview", "/", "light", 880),
    ("timeline", "/conversations?show=corrected&order=worst", "light", 1000),
    ("routing", "/routing", "dark", 720),
]


def main():
    url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root.
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, path, scheme, height in PICTURES:
            context = browser.new_context(viewport={"width": 1440, "height": height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(url + path)
            if name == "timeline":
                # The worst of them, from its beginning.
                page.goto(url + page.locator(".row-main").first.get_attribute("href").split("#")[0])
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            place = folder / f"{name}.png"
            image.quantize(colors=256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(place, optimize=True)
            print(place, place.stat().st_size, "bytes")
            context.close()
        browser.close()


main()
