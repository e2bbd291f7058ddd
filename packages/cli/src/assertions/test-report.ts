import { printable } from '@edge-gateway/core';
import { count } from '../output/problem-lines.ts';
import type { Colors } from '../output/terminal.ts';
import type { Mismatch, TestOutcome } from './run-test.ts';
import type { RequestTest } from './test-file.ts';

/** A test that ran. */
export interface TestResult extends TestOutcome {
  readonly file: string;
  readonly test: RequestTest;
  readonly durationMs: number;
}

/** The forms of the results. */
export const REPORTS = ['table', 'junit', 'tap', 'json'] as const;
export type ReportFormat = (typeof REPORTS)[number];

const isFailed = ({ mismatches }: TestResult): boolean => mismatches.length > 0;

/** Renders results in a format. */
export function renderResults(results: readonly TestResult[], format: ReportFormat, colors: Colors): string {
  if (format === 'junit') return junit(results);
  if (format === 'tap') return tap(results);
  if (format === 'json') return json(results);
  return plain(results, colors);
}

const noteOf = ({ notEvaluated }: TestResult): string[] =>
  notEvaluated === undefined ? [] : [`external auth is assumed to allow the request (not evaluated: ${notEvaluated})`];

const mismatchLine = ({ field, expected, found }: Mismatch): string => `${field}: expected ${expected}, found ${found}`;

function plain(results: readonly TestResult[], colors: Colors): string {
  const lines = results.flatMap((result, i) => {
    const { file, test, mismatches } = result;
    const title = file === results[i - 1]?.file ? [] : [...(i > 0 ? [''] : []), colors.bold(file)];
    const mark = isFailed(result) ? colors.red('✗') : colors.green('✓');
    const place = isFailed(result) ? `  (${test.origin.file}:${test.origin.line})` : '';
    const details = mismatches.map((one) => colors.red(`      ${mismatchLine(one)}`));
    const notes = noteOf(result).map((note) => colors.dim(`      ${printable(note)}`));
    return [...title, `  ${mark} ${printable(test.name)}${place}`, ...details, ...notes];
  });
  const failed = results.filter(isFailed).length;
  const total = `${count(results.length, 'test')}, ${results.length - failed} passed, ${failed} failed`;
  return [...lines, '', failed > 0 ? colors.red(total) : colors.green(total)].join('\n');
}

const escapeXml = (text: string): string =>
  printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');

const secondsOf = (results: readonly TestResult[]): string =>
  (results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3);

/** The JUnit format: a suite per file. */
function junit(results: readonly TestResult[]): string {
  const totals = (some: readonly TestResult[]) =>
    `tests="${some.length}" failures="${some.filter(isFailed).length}" errors="0" time="${secondsOf(some)}"`;
  const suites = [...Map.groupBy(results, ({ file }) => file)].flatMap(([file, some]) => [
    `  <testsuite name="${escapeXml(file)}" ${totals(some)}>`,
    ...some.flatMap((result) => junitCase(result)),
    '  </testsuite>',
  ]);
  const head = `<testsuites name="gatewayctl test" ${totals(results)}>`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>'].join('\n');
}

function junitCase(result: TestResult): string[] {
  const { file, test, mismatches } = result;
  const attributes = `classname="${escapeXml(file)}" name="${escapeXml(test.name)}" file="${escapeXml(file)}" line="${test.origin.line}" time="${secondsOf([result])}"`;
  const lines = mismatches.map(mismatchLine);
  const inner = [
    ...lines
      .slice(0, 1)
      .map((first) => `<failure message="${escapeXml(first)}">${escapeXml(lines.join('\n'))}</failure>`),
    ...noteOf(result).map((note) => `<system-out>${escapeXml(note)}</system-out>`),
  ];
  if (inner.length === 0) return [`    <testcase ${attributes}/>`];
  return [`    <testcase ${attributes}>`, ...inner.map((line) => `      ${line}`), '    </testcase>'];
}

/** The Test Anything Protocol, version 14. */
function tap(results: readonly TestResult[]): string {
  const escape = (text: string) =>
    printable(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#').replaceAll('\n', ' ');
  const lines = results.flatMap((result, i) => {
    const { file, test, mismatches } = result;
    const line = `${isFailed(result) ? 'not ok' : 'ok'} ${i + 1} - ${escape(`${file}: ${test.name}`)}`;
    const notes = noteOf(result).map((note) => `  # ${escape(note)}`);
    if (!isFailed(result)) return [line, ...notes];
    const details = mismatches.map(({ field, expected, found }) => ({ field, expected, found }));
    const yaml = [
      `at: ${JSON.stringify(`${test.origin.file}:${test.origin.line}`)}`,
      `mismatches: ${JSON.stringify(details)}`,
    ];
    return [line, '  ---', ...yaml.map((each) => `  ${each}`), '  ...', ...notes];
  });
  return ['TAP version 14', `1..${results.length}`, ...lines].join('\n');
}

function json(results: readonly TestResult[]): string {
  const failed = results.filter(isFailed).length;
  const tests = results.map(({ file, test, mismatches, notEvaluated, durationMs }) => ({
    file,
    line: test.origin.line,
    name: test.name,
    passed: mismatches.length === 0,
    durationMs: Number(durationMs.toFixed(3)),
    mismatches,
    ...(notEvaluated !== undefined && { externalAuthNotEvaluated: notEvaluated }),
  }));
  return JSON.stringify({ total: results.length, passed: results.length - failed, failed, tests }, undefined, 2);
}
