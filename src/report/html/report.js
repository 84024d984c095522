// The report's page: showing one answer at a time, and keys. What stands in answers is made ready by player.js.

/** Shows the answer that the address names, if there are several. */
function navigate(answers) {
  const links = [...document.querySelectorAll("nav a")];
  if (!links.length) return;
  const named = answers.find((answer) => `#${answer.id}` === location.hash);
  const shown = named ?? answers.find((answer) => !answer.hidden && answers.some((a) => a.hidden)) ?? answers[0];
  for (const answer of answers) answer.hidden = answer !== shown;
  for (const link of links) {
    if (link.hash === `#${shown.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (named) window.scrollTo(0, 0);
}

const answers = [...document.querySelectorAll(".answer")];
const players = answers.flatMap((answer) => enliven(answer));
navigate(answers);
window.addEventListener("hashchange", () => navigate(answers));
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const player = players.find((candidate) => candidate.visible);
  const to = player && target(player, event);
  if (to === undefined) return;
  event.preventDefault();
  player.show(to);
  if (!player.inView) player.root.scrollIntoView({ block: "start" });
});
