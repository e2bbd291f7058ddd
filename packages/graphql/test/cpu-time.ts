/** What something cost this process, in milliseconds of processor time: a machine that is busy with other things adds nothing. */
export async function cpuTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
