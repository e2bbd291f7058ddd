/** Returns a text in Latin-1 as a string of its own: neither a part of another one, which it would keep in memory, nor made of parts. */
export const copyText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
