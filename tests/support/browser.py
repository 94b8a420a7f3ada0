"""Chromium without a network, and what a page asks of it."""

import json
import shutil
from urllib.parse import urlsplit

import pytest


def chromium():
    """A fixture: the browser, with a profile of its own, for the tests of a file."""

    @pytest.fixture(scope="module")
    def browser(tmp_path_factory):
        webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not chromium or not driver:
            pytest.skip("needs chromium (or google-chrome) and chromedriver")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (
            "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
            "disable-background-networking", "disable-component-update", "disable-sync",
            "window-size=1300,900", f"user-data-dir={tmp_path_factory.mktemp('profile')}",
        ):  # fmt: skip
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        found = webdriver.Chrome(options, webdriver.ChromeService(driver))
        yield found
        found.quit()

    return browser


def asked(browser):
    """The kinds of addresses that were asked since the last time, but those in page or browser."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [e["params"]["request"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return {urlsplit(request["url"]).scheme for request in sent} - {"data", "chrome",
        "chrome-untrusted"}  # fmt: skip


def wish(browser, theme):
    """Let the reader want a theme, "light" or "dark"."""
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def narrow(browser, width, height=900):
    """Let the window be so many pixels wide, which a window with a frame cannot be."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
