import { GatewayError } from '../errors.ts';

/** A template that does not parse. `line` and `column` start at 1 within the template, `offset` at 0. */
export class TemplateError extends GatewayError {
  override readonly name = 'TemplateError';
  readonly offset: number;
  readonly line: number;
  readonly column: number;

  constructor(problem: string, source: string, offset: number) {
    const before = source.slice(0, offset).split('\n');
    const [line, column] = [before.length, before.at(-1)!.length + 1];
    super(`template line ${line}, column ${column}: ${problem}`, { code: 'ERR_CORE_TEMPLATE' });
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

/** A template that cannot be rendered for this input: an undefined variable, a wrong type, a limit. */
export class RenderError extends GatewayError {
  override readonly name = 'RenderError';

  constructor(problem: string) {
    super(problem, { code: 'ERR_CORE_TEMPLATE_RENDER', status: 400 });
  }
}
