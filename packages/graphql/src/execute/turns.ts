/** Maximum time that all results together may be completed in one turn of the event loop, in milliseconds. */
const TURN_MS = 10;
/** Number of fields between two looks at the clock. */
const FIELDS_PER_LOOK = 256;

/** Paused parts of one execution, the innermost last: it continues first, so that few parts are open at a time. */
export type Paused = (() => void)[];

const waiting: Paused[] = [];
const turn = { fields: 0, isOver: false, startedAt: undefined as number | undefined };

/** Counts a field that is completed. */
export function countField(): void {
  turn.fields++;
}

/** Returns true if other work of the process must run before more values are completed. */
export function isTurnOver(): boolean {
  if (++turn.fields < FIELDS_PER_LOOK || turn.isOver) return turn.isOver;
  turn.fields = 0;
  const now = performance.now();
  if (turn.startedAt === undefined) {
    turn.startedAt = now;
    setImmediate(begin);
  } else if (now - turn.startedAt > TURN_MS) turn.isOver = true;
  return turn.isOver;
}

/** Continues a part of an execution in a later turn. All executions continue in turn. */
export function pause(paused: Paused, resume: () => void): void {
  if (paused.push(resume) === 1) waiting.push(paused);
}

/** Begins a turn, at most one of them in each turn of the event loop. */
function begin(): void {
  turn.isOver = false;
  turn.startedAt = undefined;
  if (waiting.length === 0) return;
  turn.startedAt = performance.now();
  while (waiting.length > 0 && !turn.isOver) {
    const paused = waiting.shift()!;
    const resume = paused.pop()!;
    // Before it resumes: it may pause again.
    if (paused.length > 0) waiting.push(paused);
    resume();
  }
  setImmediate(begin);
}
