/** What lines of headers must not have: control characters, and line breaks that are not CR LF (RFC 9112 2.2). */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
export const BROKEN_LINES = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?:^|[^\r])\n/;
