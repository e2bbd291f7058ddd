/** A node of a radix tree: texts that share a beginning share the way to it. */
export interface PrefixNode<T> {
  /** What the way to this node adds to its parent's. */
  label: string;
  /** In the order in which they were added. */
  entries: T[];
  /** By first character code of their label. */
  children: Map<number, PrefixNode<T>> | undefined;
}

export function createPrefixTree<T>(): PrefixNode<T> {
  return { label: '', entries: [], children: undefined };
}

/** Adds a value under a text; the empty text is at the root. */
export function addPrefix<T>(root: PrefixNode<T>, text: string, value: T): void {
  let node = root;
  let at = 0;
  while (at < text.length) {
    node.children ??= new Map();
    const code = text.charCodeAt(at);
    const child = node.children.get(code);
    if (!child) {
      const leaf: PrefixNode<T> = { label: text.slice(at), entries: [value], children: undefined };
      node.children.set(code, leaf);
      return;
    }
    const shared = sharedLength(child.label, text, at);
    node = shared === child.label.length ? child : split(node.children, child, shared);
    at += shared;
  }
  node.entries.push(value);
}

function sharedLength(label: string, text: string, at: number): number {
  let shared = 0;
  while (shared < label.length && label.charCodeAt(shared) === text.charCodeAt(at + shared)) shared++;
  return shared;
}

function split<T>(siblings: Map<number, PrefixNode<T>>, child: PrefixNode<T>, at: number): PrefixNode<T> {
  const upper: PrefixNode<T> = { label: child.label.slice(0, at), entries: [], children: new Map() };
  siblings.set(upper.label.charCodeAt(0), upper);
  child.label = child.label.slice(at);
  upper.children!.set(child.label.charCodeAt(0), child);
  return upper;
}
