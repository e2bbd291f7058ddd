// Plain JavaScript, so that a Node that cannot run TypeScript prints one line in place of a stack.
if (!process.features.typescript) {
  console.error(`Node ${process.version} cannot run this example: install Node 22.18 or later, which runs TypeScript.`);
  process.exit(1);
}
