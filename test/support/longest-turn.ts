// How long a turn of the event loop keeps this thread busy: other calls wait for so long.

/**
 * Does the work, and tells the processor time of the longest turn meanwhile. Unlike the delay on
 * the clock, it does not grow with what else the machine is doing.
 */
export async function longestTurn<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; turnMs: number }> {
  let turnMs = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const look = () => {
    const used = process.threadCpuUsage(before);
    turnMs = Math.max(turnMs, (used.user + used.system) / 1_000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  try {
    const result = await work();
    return { result, turnMs };
  } finally {
    isOver = true;
  }
}
