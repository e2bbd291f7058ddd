// Changelogs for users: the text of each changeset, without commits and without lists of updated dependencies, because all
// packages have the same version.

export function getReleaseLine({ summary }) {
  const [first, ...others] = summary.split('\n').map((line) => line.trimEnd());
  return [`- ${first}`, ...others.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

export const getDependencyReleaseLine = () => '';
