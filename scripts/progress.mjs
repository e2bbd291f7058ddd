/** Milliseconds between lines where output is no terminal, and between changes of the line in one. */
const [LINES_MS, TERMINAL_MS] = [10_000, 250];

/**
 * Shows that a step is in progress, with the elapsed time: one line in a terminal, which disappears at the end; otherwise a line from time to time.
 * `update` adds a text, such as a counter.
 */
export function showProgress(what, stream = process.stderr) {
  const began = Date.now();
  let detail = '';
  const draw = () => {
    const text = `  ${what}${detail && `: ${detail}`}, ${Math.round((Date.now() - began) / 1000)} s`;
    stream.write(stream.isTTY ? `\r${text.slice(0, (stream.columns || 80) - 1)}\x1b[K` : `${text}\n`);
  };
  const timer = setInterval(draw, stream.isTTY ? TERMINAL_MS : LINES_MS);
  return {
    update(text) {
      detail = text;
    },
    end() {
      clearInterval(timer);
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
  };
}
