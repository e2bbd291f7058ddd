import { formatOperatorAt, toByteString } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { operatorOf, OPERATOR_NAMES, type FormatContext, type FormatUse } from './operators.ts';
import type { Operator, RequestRecord } from './record.ts';

export interface Format {
  readonly literal: string | undefined;
  readonly parts: readonly (string | Operator)[];
}

/**
 * Compiles a text such as `%REQ(X-A?:PATH):10% %START_TIME(%s)%`; `%%` is a percent sign. With `request` the operators
 * of responses are rejected. Formats of a `log` render text, those of headers byte strings, see `toByteString`. `env` are the variables of `%ENVIRONMENT(X)%`. Throws `ERR_ROUTING_OPTION` for an unknown operator.
 */
export function compileFormat(text: string, use: FormatUse, env?: FormatContext['env']): Format {
  const context: FormatContext = { use, env };
  const parts: (string | Operator)[] = [];
  const written = use === 'log' ? (part: string): string => part : toByteString;
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const percent = text.indexOf('%', at);
    if (percent < 0) {
      literal += text.slice(at);
      break;
    }
    literal += text.slice(at, percent);
    if (text[percent + 1] === '%') {
      literal += '%';
      at = percent + 2;
      continue;
    }
    const { operator, end } = readOperator(text, percent, context);
    if (literal !== '') parts.push(written(literal));
    literal = '';
    parts.push(operator);
    at = end;
  }
  if (parts.length === 0) return { literal: written(literal), parts: [written(literal)] };
  if (literal !== '') parts.push(written(literal));
  return { literal: undefined, parts };
}

function readOperator(text: string, at: number, context: FormatContext): { operator: Operator; end: number } {
  const found = formatOperatorAt(text, at);
  const operator = found && operatorOf(found.name, found.argument, context);
  if (!found || !operator) {
    const known = OPERATOR_NAMES.join(', ');
    throw routingError('ERR_ROUTING_OPTION', `unknown operator at "${text.slice(at, at + 40)}" (known: ${known})`);
  }
  const { written, maxLength } = found;
  return { operator: maxLength === undefined ? operator : cut(operator, Number(maxLength)), end: at + written.length };
}

function cut(operator: Operator, length: number): Operator {
  return (record) => {
    const value = operator(record);
    return value === undefined ? undefined : String(value).slice(0, length);
  };
}

/** Renders a format; `missing` replaces operators without a value. */
export function fill(format: Format, record: RequestRecord, missing: string): string {
  if (format.literal !== undefined) return format.literal;
  let text = '';
  for (const part of format.parts) text += typeof part === 'string' ? part : (part(record) ?? missing);
  return text;
}
