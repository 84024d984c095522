"use strict";
// Every program in the book opens in the playground, which stands beside it in the site.
for (const code of document.querySelectorAll("pre > code")) {
  const language = ["fw", "litmus", "c"].find((name) => code.classList.contains(`language-${name}`));
  if (!language) continue;
  const file = [...code.classList].map((name) => /^file=(.+)$/.exec(name)?.[1]).find(Boolean);
  const link = document.createElement("a");
  const fields = new URLSearchParams({ name: file ?? `example.${language}`, text: code.textContent });
  link.href = `${path_to_root}playground/index.html#${fields}`;
  link.textContent = "Open in the playground";
  code.closest("pre").after(link);
}
