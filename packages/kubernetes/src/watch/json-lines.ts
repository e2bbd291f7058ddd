const NEWLINE = 10;

/** Splits a stream into lines of JSON, in batches that arrived together. Each byte is copied once, however long its line is. */
export async function* jsonLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<unknown[]> {
  let open: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const batch: unknown[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...open, chunk.subarray(start, end)]);
      open = [];
      size = 0;
      start = end + 1;
      if (line.length > 0) batch.push(JSON.parse(line.toString()));
    }
    if (start < chunk.length) {
      open.push(chunk.subarray(start));
      size += chunk.length - start;
    }
    if (size > maxLineBytes) throw new Error(`an event is larger than ${maxLineBytes} bytes`);
    if (batch.length > 0) yield batch;
  }
}
