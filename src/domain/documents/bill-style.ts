// The style sheet of a bill as HTML.

/** On a phone tables are stacked; paper is never narrow. */
const narrowStyle = `@media screen and (max-width: 600px) {
  body { background: #fff; font-size: 15px; }
  main { margin: 0; padding: 1rem; }
  header { flex-wrap: wrap; }
  header h1 { flex-basis: 100%; }
  .parties > div, .ending > div { flex-basis: 100%; }
  .panel { margin: 0 -.25rem; }
  small { padding-inline-start: .5rem; }
  .readings tr, .readings td { display: block; }
  .readings tr { border-top: 1px solid var(--rule); padding: .3rem 0; }
  .readings tr.head { display: none; }
  .readings td { display: flex; justify-content: space-between; gap: 1rem; border: 0;
    padding: .1rem .4rem; text-align: end; overflow-wrap: anywhere; }
  .readings td::before { content: attr(data-name); color: var(--muted); flex: none; }
  .readings td:first-child { font-weight: 700; }
  .readings td:empty { display: none; }
  .charges tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; column-gap: .8rem;
    border-top: 1px solid var(--rule); }
  .charges th, .charges td { border: 0; }
  .charges tr.head, .charges tr.strong { background: #f3f6f8; }
  .charges th:nth-child(2), .charges td:nth-child(2) { grid-area: 2 / 1; text-align: start; }
  .charges th:nth-child(3), .charges td:nth-child(3) { grid-area: 2 / 2; }
  .charges td:nth-child(2), .charges td:nth-child(3) { color: var(--muted); padding-top: 0; }
  .charges th:nth-child(2), .charges th:nth-child(3) { font-weight: 400; padding-top: 0; }
  .charges tr > :last-child:not(:only-child) { grid-area: 1 / 2; color: inherit;
    text-align: end; padding-top: .25rem; }
  .charges th:only-child { grid-column: 1 / -1; }
  .charges td:empty { display: none; }
  svg text { font-size: 8px; }
}
`;

/** The colour has the form #rrggbb: readLetterhead lets no other pass. */
export function styleSheet(color: string): string {
  return `
:root { --accent: ${color}; --muted: #57606a; --rule: #c4ccd4; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef1f4; color: #1b1f24;
  font: 14px/1.4 "Noto Sans", "Noto Naskh Arabic", system-ui, sans-serif; }
html:lang(ur) body, :lang(ur) { line-height: 2;
  font-family: "Noto Sans", "Noto Nastaliq Urdu", "Jameel Noori Nastaleeq", "Urdu Typesetting",
    "Noto Naskh Arabic", system-ui, sans-serif; }
.charges td + td, .totals td + td { font-variant-numeric: tabular-nums; }
[dir=rtl] .charges td + td, [dir=rtl] .totals td + td { text-align: right; }
main { max-width: 800px; margin: 1rem auto; padding: 2rem; background: #fff; }
header { display: flex; gap: 1rem; align-items: flex-start; padding-bottom: .75rem;
  border-bottom: 2px solid var(--accent); }
header .organisation { flex: 1 1 0; min-width: 0; }
.logo { max-width: 160px; max-height: 64px; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.25rem 0 0; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; color: var(--accent); }
p, dl, address { margin: .15rem 0; font-style: normal; overflow-wrap: anywhere; }
.name { font-weight: 700; }
.muted, small { color: var(--muted); }
small { display: block; padding-inline-start: 1rem; }
.warning { text-align: center; color: #b42318; font-weight: 700; }
.parties, .ending, .slip { display: flex; flex-wrap: wrap; gap: 1.5rem; margin-top: 1rem; }
.parties > div, .ending > div { flex: 1 1 300px; min-width: 0; }
.contact { margin-top: 1rem; }
.panel { background: #f3f6f8; padding: .75rem 1rem; }
.payable { font-size: 1.4rem; font-weight: 700; text-align: end; }
dl { display: grid; grid-template-columns: minmax(0, max-content) minmax(min-content, 1fr);
  gap: .1rem .8rem; }
dt { color: var(--muted); }
dd { margin: 0; text-align: end; overflow-wrap: break-word; }
.customer dd { text-align: start; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .25rem .4rem; text-align: end; vertical-align: top; }
th { color: var(--accent); background: #f3f6f8; }
th:first-child, td:first-child { text-align: start; overflow-wrap: anywhere; }
td { border-top: 1px solid var(--rule); }
tr.strong td { font-weight: 700; background: #f3f6f8; }
tr.detail td { color: var(--muted); font-size: .85em; border-top: 0; }
.bar { fill: var(--accent); opacity: .4; }
.bar.present { opacity: 1; }
svg { max-width: 100%; height: auto; }
svg text { font-size: 6px; text-anchor: middle; }
.slip { border-top: 1px dashed var(--muted); padding-top: 1rem; }
.slip > div { flex: 1 1 220px; min-width: 0; }
figure { margin: 0; text-align: center; }
${narrowStyle}
@media print { body { background: #fff; } main { margin: 0; padding: 0; max-width: none; } }
`;
}
