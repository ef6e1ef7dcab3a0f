"""Renders a page in headless Chromium, and returns its layout and the browser's messages."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Reports the layout of the page, which is loaded into an iframe with the width of the screen.
HARNESS = """<!DOCTYPE html><html><body style="margin:0">
<iframe style="border:0;width:{width}px;height:800px" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
addEventListener("load", () => {{
  const frame = document.querySelector("iframe"), inside = frame.contentDocument;
  const root = inside.documentElement, style = frame.contentWindow.getComputedStyle;
  const visible = [...inside.querySelectorAll("main *")].filter(e => !e.closest(".scroll"));
  document.querySelector("#found").textContent = JSON.stringify({{
    width: root.scrollWidth,
    widest: Math.max(...visible.map(e => e.getBoundingClientRect().right)),
    title: inside.title,
    resources: frame.contentWindow.performance.getEntriesByType("resource").map(e => e.name),
    scripts: inside.scripts.length,
    wrapped: [...inside.querySelectorAll("main b, main td, .row div span:last-child")].filter(e => {{
      const text = inside.createRange();
      text.selectNodeContents(e);
      return new Set([...text.getClientRects()].map(r => Math.round(r.top))).size > 1;
    }}).map(e => e.innerText),
    ink: style(inside.querySelector("main")).color,
    card: style(inside.querySelector(".card")).backgroundColor,
    charts: [...inside.querySelectorAll("svg")].filter(e => e.getBoundingClientRect().height > 0).length,
    text: inside.body.innerText,
  }});
}});
</script></body></html>"""


def chromium() -> str:
    """Returns the path of Chromium.

    If it is missing, the test is skipped, or fails with `RDFM_REQUIRE_BROWSER=1`.
    """
    for name in COMMANDS:
        if found := shutil.which(name):
            return found
    message = "no Chromium: apt-get install chromium"
    if os.environ.get("RDFM_REQUIRE_BROWSER") == "1":
        pytest.fail(message)
    pytest.skip(message)


def render_page(
    page: str, folder: Path, *, width: int = 1000, dark: bool = False
) -> dict[str, Any]:
    """Returns the layout of a page at a screen width, and the browser's messages (`console`)."""
    file = folder / "harness.html"
    file.write_text(HARNESS.format(width=width, page=escape(page)), "utf-8")
    command = [
        *(chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--disable-background-networking", "--no-first-run", "--enable-logging=stderr"),
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        *("--virtual-time-budget=5000", "--dump-dom", file.as_uri()),
    ]
    completed = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, encoding="utf-8"
    )
    found = re.search(r'<pre id="found">(.*?)</pre>', completed.stdout, re.S)
    assert found, completed.stdout[-500:] + completed.stderr[-500:]
    answer: dict[str, Any] = json.loads(unescape(found[1]))
    answer["console"] = [line for line in completed.stderr.splitlines() if ":CONSOLE" in line]
    return answer
