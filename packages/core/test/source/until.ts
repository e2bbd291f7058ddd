/** Waits for a condition; fails when it does not come true within the limit. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`still not so after ${limitMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
