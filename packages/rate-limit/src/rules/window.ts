import { UNIT_MS, type Unit } from './limit.ts';

/** A window of time: from `startMs` until before `endMs`, in milliseconds since the epoch. */
export interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

/** The epoch was on a Thursday; weeks start on Mondays. */
const MONDAY_MS = 4 * UNIT_MS.DAY;

/**
 * Returns the window that contains a time. Windows are aligned in UTC: seconds to days to multiples of their length, weeks to Mondays
 * (ISO 8601), months and years to the calendar.
 *
 * @example
 * windowAt('MONTH', Date.UTC(2027, 1, 14)); // { startMs: Date.UTC(2027, 1, 1), endMs: Date.UTC(2027, 2, 1) }
 */
export function windowAt(unit: Unit, nowMs: number): Window {
  if (unit === 'MONTH' || unit === 'YEAR') return calendarWindow(unit, new Date(nowMs));
  const length = UNIT_MS[unit];
  const offset = unit === 'WEEK' ? MONDAY_MS : 0;
  const startMs = Math.floor((nowMs - offset) / length) * length + offset;
  return { startMs, endMs: startMs + length };
}

function calendarWindow(unit: Unit, now: Date): Window {
  const year = now.getUTCFullYear();
  if (unit === 'YEAR') return { startMs: firstOf(year, 0), endMs: firstOf(year + 1, 0) };
  const month = now.getUTCMonth();
  return { startMs: firstOf(year, month), endMs: firstOf(year, month + 1) };
}

/** Unlike `Date.UTC`, for the first century too. */
function firstOf(year: number, month: number): number {
  return new Date(0).setUTCFullYear(year, month, 1);
}
