// What the theme lacks for keyboards and screen readers: regions that scroll, and the name of the search.
window.addEventListener("load", () => {
  document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((region) => {
    const keep = () => region.hasAttribute("tabindex") || region.setAttribute("tabindex", "0");
    keep();
    // The theme removes the attribute when it measures a region for the first time.
    new MutationObserver(keep).observe(region, { attributeFilter: ["tabindex"] });
  });
  document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");
});
