import { html, type Markup } from './html.ts';

const WIDTH = 600;
const HEIGHT = 48;

/** Renders values as a line, the newest at the right; `slots` is the number of values that fill the width. */
export function chartOf(measured: readonly number[], slots: number, caption: string): Markup {
  // A single value is a short line: a point would not be visible.
  const values = measured.length === 1 ? [...measured, ...measured] : measured;
  const most = Math.max(...values, 1);
  const x = (i: number): number => Math.round(((i + slots - values.length) / (slots - 1)) * WIDTH);
  const points = values.map((value, i) => `${x(i)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`);
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${caption}">
<polyline points="${points.join(' ')}" fill="none" vector-effect="non-scaling-stroke"/></svg>
<figcaption>${caption}</figcaption></figure>`;
}
