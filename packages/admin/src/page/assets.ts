/** Paths of the style and the script of the pages. */
export const STYLE_PATH = '/status/page.css';
export const SCRIPT_PATH = '/status/page.js';

/** Colors are those of the pages for errors and logins. */
export const STYLE = `:root { color-scheme: light dark; --text: #1c2733; --soft: #5a6672; --back: #f3f5f7; --card: #fff; --line: #d9dfe5; --accent: #1f5fbf; --on-accent: #fff;
  --good: #1b6e3c; --good-back: #e3f3e8; --warning: #7a5200; --warning-back: #fbf0d5; --bad: #a4262c; --bad-back: #fbe4e4; --neutral-back: #e8ecf0 }
@media (prefers-color-scheme: dark) { :root { --text: #e6eaee; --soft: #9aa5b1; --back: #14181d; --card: #1e242b; --line: #343d47; --accent: #82b1ff; --on-accent: #10151b;
  --good: #7fd19b; --good-back: #1c3326; --warning: #ecc268; --warning-back: #3a3019; --bad: #ff9a97; --bad-back: #45211f; --neutral-back: #2b333c } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; overflow-wrap: break-word }
a { color: var(--accent) }
a:not(:hover) { text-decoration-color: color-mix(in srgb, currentColor 35%, transparent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
main:focus { outline: none }
.skip { position: absolute; left: -99rem }
.skip:focus { left: 1rem; top: .5rem; z-index: 2; background: var(--card); padding: .4rem .8rem }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: .6rem 1.25rem 0; background: var(--card); border-bottom: 1px solid var(--line) }
header p, header form { margin: 0 }
.brand { flex: 1 1 auto; font-size: 1rem }
.brand a { color: inherit; font-weight: 650; text-decoration: none }
.brand span { margin-left: .35rem }
small, .hint, .empty, figcaption, .links span { color: var(--soft) }
small { font-size: .86em }
header form[role=search] { display: flex; gap: .4rem; flex: 0 1 26rem }
header input { flex: 1 1 auto }
input, select, textarea, button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: .35rem; padding: .25rem .5rem; min-width: 0; max-width: 100% }
input::placeholder, textarea::placeholder { color: var(--soft); opacity: 1 }
button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); cursor: pointer; padding: .25rem .8rem }
button.quiet, #live-pause { background: none; color: var(--accent) }
.live[hidden] { display: none }
.live { color: var(--soft); min-width: 9.5rem; text-align: right; white-space: nowrap }
.live #live-state::before { content: ''; display: inline-block; width: .55em; height: .55em; margin-right: .45em; border-radius: 50%; background: var(--soft) }
.live #live-state.on::before { background: var(--good) }
nav[aria-label=Sections] { flex: 1 0 100%; min-width: 0 }
nav[aria-label=Sections] ul { display: flex; gap: .1rem; margin: 0; padding: 0; list-style: none; overflow-x: auto }
nav[aria-label=Sections] a { display: block; padding: .4rem .75rem .5rem; color: var(--soft); text-decoration: none; white-space: nowrap; border-bottom: 2px solid transparent; outline-offset: -3px }
nav[aria-label=Sections] a:hover { color: var(--text) }
nav[aria-label=Sections] a[aria-current] { color: var(--text); border-color: var(--accent); font-weight: 600 }
main { max-width: 92rem; margin: 0 auto; padding: 1rem 1.25rem 3rem }
h1 { margin: 0 0 .75rem; font-size: 1.3rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { margin: 1.5rem 0 .5rem; font-size: 1rem }
.hint, .empty { margin: .25rem 0 .75rem }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .38rem .75rem; text-align: left; vertical-align: top; font-weight: 400; border-top: 1px solid var(--line) }
thead th { border-top: 0; color: var(--soft); font-size: .86em; white-space: nowrap; padding-bottom: .3rem }
tbody th { white-space: nowrap; max-width: 26rem; overflow: hidden; text-overflow: ellipsis }
tbody tr:hover { background: color-mix(in srgb, var(--accent) 5%, transparent) }
.number { text-align: right; white-space: nowrap }
.wide { width: 50%; min-width: 16rem; overflow-wrap: anywhere }
time { white-space: nowrap }
code, pre { font: .92em/1.5 ui-monospace, monospace }
td code, th code { white-space: nowrap }
code.matcher { display: block; white-space: normal; overflow-wrap: anywhere }
.badge { display: inline-block; padding: 0 .5em; border-radius: 1em; font-size: .9em; white-space: nowrap; background: var(--neutral-back); color: var(--text) }
.badge.good { background: var(--good-back); color: var(--good) }
.badge.warning { background: var(--warning-back); color: var(--warning) }
.badge.bad { background: var(--bad-back); color: var(--bad) }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; margin: 0 }
.figures div { padding: .55rem .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; border-left: 3px solid var(--line) }
.figures dt { color: var(--soft); font-size: .86em }
.figures dd { margin: 0; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.figures dd a { color: inherit }
.figures small { display: block; font-size: .62em; min-height: 1.4em }
.figures .good { border-left-color: var(--good) } .figures .bad { border-left-color: var(--bad) } .figures .warning { border-left-color: var(--warning) }
.figures .bad dd { color: var(--bad) }
.chart { margin: .6rem 0 0; padding: .5rem .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
.chart + .scroll { margin-top: .6rem }
.chart svg { display: block; width: 100%; height: 48px }
.chart polyline { stroke: var(--accent); stroke-width: 1.5 }
.chart figcaption { font-size: .86em }
.columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0 1.25rem }
@media (max-width: 70rem) { .columns { grid-template-columns: minmax(0, 1fr) } }
.columns section { min-width: 0 }
.columns > :only-child { grid-column: 1 / -1 }
.columns .wide { min-width: 8rem }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 0 0 1rem }
.facts dt { color: var(--soft) }
.facts dd { margin: 0; overflow-wrap: anywhere }
.lines { white-space: pre-line }
pre { margin: 0; padding: .75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; overflow: auto; max-height: 75vh }
#log pre { white-space: pre-wrap; overflow-wrap: anywhere }
.explanation { white-space: pre-wrap; overflow-wrap: anywhere; max-height: none }
.explanation .yes { color: var(--good) } .explanation .no { color: var(--bad) }
.explain { display: grid; grid-template-columns: 8rem repeat(2, minmax(0, 1fr)); gap: .6rem 1rem; margin: 0 0 1rem }
.filters { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem 1rem; margin: 0 0 .75rem }
.filters label { display: inline-flex; flex-wrap: wrap; align-items: center; gap: .4rem; color: var(--soft) }
.filters input, .filters select { color: var(--text); background: var(--card) }
.explain { padding: .9rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
.explain p { margin: 0 } .explain label { display: block; color: var(--soft); font-size: .9em }
.explain input, .explain textarea { width: 100% } 
.explain textarea { font: .92em/1.5 ui-monospace, monospace; resize: vertical }
.grow { grid-column: span 2 } .half { grid-column: 1 / span 2 } .half + .half { grid-column: 3 } .row { grid-column: 1 / -1 }
.error { padding: .6rem .9rem; border-radius: .5rem; background: var(--bad-back); color: var(--bad) }
.pager { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: .6rem 0 0; color: var(--soft) }
.pager p { margin: 0 auto 0 0 }
.policies { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .25rem .35rem }
.policies li { padding: 0 .55em; border-radius: 1em; background: var(--neutral-back); overflow-wrap: anywhere }
.policies span { color: var(--soft) }
.links { columns: 20rem; margin: 0; padding: 0; list-style: none }
.links li { break-inside: avoid; padding: .12rem 0 }
.links a { font-family: ui-monospace, monospace; font-size: .92em; margin-right: .4rem }
.command { font-weight: 400; display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .9rem; margin: 0 }
.command label { display: inline-flex; align-items: center; gap: .4rem; color: var(--soft); white-space: nowrap; max-width: 100% }
tbody th:has(.command) { max-width: none }
.sign-in { max-width: 26rem; margin: 12vh auto 0; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem }
.sign-in input { width: 100%; margin: .25rem 0 1rem }
@media (max-width: 44rem) {
  header { padding: .6rem .8rem 0 } main { padding: .8rem .8rem 2rem }
  header form[role=search] { flex: 1 0 100%; order: 1 } nav[aria-label=Sections] { order: 2 } nav[aria-label=Sections] ul { flex-wrap: wrap } nav[aria-label=Sections] a { padding: .3rem .5rem }
  .live { min-width: 0 } .brand small { display: none }
  .scroll { border: 0; background: none; overflow: visible }
  table, tbody { display: block } thead { display: none }
  tr { display: block; margin: 0 0 .5rem; padding: .5rem .7rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
  tbody th, td, td.number, td.wide, .columns td.wide { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .6rem; padding: .12rem 0; border: 0; max-width: none; width: auto; min-width: 0; text-align: left; white-space: normal; overflow-wrap: anywhere }
  tbody th { display: block; font-weight: 600 }
  td::before { content: attr(data-column); color: var(--soft) } td:has(> div:empty), .columns td:has(> div:empty) { display: none }
  td code, th code, .badge { white-space: normal; justify-self: start }
  .figures { grid-template-columns: 1fr 1fr } .facts { grid-template-columns: 1fr; gap: 0 } .facts dd { margin-bottom: .5rem }
  .explain { grid-template-columns: 1fr } .explain p, .half + .half { grid-column: 1 }
  .pager p { flex: 1 0 100% } .pager { gap: .6rem .9rem } .pager a, .links a { padding: .3rem 0 } .links li { padding: .3rem 0 }
}
@media (prefers-reduced-motion: no-preference) { .skip { transition: left .1s } }
@media print { header form, .live, .pager { display: none } }
`;

/**
 * Loads the page again after each event, and replaces the parts that have changed; not a part with the focus or a selection in it,
 * and nothing while the page is hidden or updates are paused.
 */
export const SCRIPT = `'use strict';
(() => {
  if (!document.querySelector('[data-live]')) return;
  const state = document.getElementById('live-state');
  const pause = document.getElementById('live-pause');
  const notice = document.getElementById('live-notice');
  let paused = false, missed = false, loading = false;

  const show = (text, isOn) => {
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle('on', isOn);
  };
  const isInUse = (part) => {
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && part.contains(selection.anchorNode)) return true;
    return part.contains(document.activeElement);
  };
  async function update(kind) {
    if (paused || document.hidden) { missed = true; return; }
    const parts = [...document.querySelectorAll('[data-live]')].filter((part) => kind === 'change' || part.dataset.live.includes(kind));
    if (loading || parts.length === 0) return;
    loading = true;
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-store' });
      if (!response.ok) return;
      const next = new DOMParser().parseFromString(await response.text(), 'text/html');
      for (const part of parts) {
        const replacement = next.getElementById(part.id);
        if (replacement && replacement.innerHTML !== part.innerHTML && !isInUse(part)) part.replaceChildren(...replacement.childNodes);
      }
    } catch { /* The next event tries again. */ } finally { loading = false; }
  }
  const catchUp = () => { if (missed) { missed = false; void update('change'); } };

  const events = new EventSource('/status/events');
  events.addEventListener('open', () => { if (!paused) show('Live', true); });
  events.addEventListener('error', () => show(events.readyState === EventSource.CLOSED ? 'Not live' : 'Reconnecting', false));
  events.addEventListener('tick', () => update('tick'));
  events.addEventListener('change', (event) => {
    if (!paused) notice.textContent = event.data;
    void update('change');
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) catchUp(); });
  document.getElementById('live').hidden = false;
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.textContent = paused ? 'Resume' : 'Pause';
    show(paused ? 'Paused' : 'Live', !paused);
    if (!paused) catchUp();
  });
})();
`;
