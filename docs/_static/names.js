// Names for screen readers of links and buttons whose text the theme and the gallery hide.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.reference")) {
    link.setAttribute("aria-label", link.textContent);
  }
  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
});
