/**
 * Returns a function that recomputes its result only if the identity of an argument changed since the last call.
 *
 * @example
 * const rowsOf = memo((state: State) => state.resources.map(toRow));
 */
export function memo<Arguments extends readonly unknown[], Result>(
  compute: (...values: Arguments) => Result,
): (...values: Arguments) => Result {
  let last: { readonly values: Arguments; readonly result: Result } | undefined;
  return (...values) => {
    if (last?.values.length === values.length && values.every((value, i) => value === last!.values[i]))
      return last.result;
    last = { values, result: compute(...values) };
    return last.result;
  };
}
