const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);
const isSupported = major > 22 || (major === 22 && minor >= 18);

/** Returns the sentence that says that this version of Node.js is too old; `undefined` if it is supported. */
export function nodeVersionProblem(name: string): string | undefined {
  return isSupported ? undefined : `${name} needs Node.js 22.18 or later, this is ${process.version}`;
}
