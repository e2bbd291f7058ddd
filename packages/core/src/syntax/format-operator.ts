/** An operator in a format, such as `%REQ(X-A):10%`. */
export interface FormatOperator {
  /** The whole operator, with its percent signs. */
  readonly written: string;
  readonly name: string;
  /** The text in parentheses. */
  readonly argument?: string;
  /** The maximum length of the value, as digits. */
  readonly maxLength?: string;
}

const OPERATOR = /%([A-Z_0-9]+)(?:\(([^)]*)\))?(?::(\d+))?%/y;

/** Returns the operator that begins with the percent sign at a position; `undefined` if there is none. */
export function formatOperatorAt(format: string, at: number): FormatOperator | undefined {
  OPERATOR.lastIndex = at;
  const [written, name = '', argument, maxLength] = OPERATOR.exec(format) ?? [];
  if (written === undefined) return undefined;
  return { written, name, ...(argument !== undefined && { argument }), ...(maxLength !== undefined && { maxLength }) };
}
