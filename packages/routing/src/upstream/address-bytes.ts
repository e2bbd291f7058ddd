import { isIPv4 } from 'node:net';

/** Returns the 4 or 16 bytes of an IP address, which must be valid. A zone (`%eth0`) is ignored. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  return Buffer.from([...before, ...Array<number>(16 - before.length - after.length).fill(0), ...after]);
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
