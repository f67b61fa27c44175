// A progress bar on one line. If the output is not a terminal, only the full bar is printed.

const width = 24;

export function progressLine(
  title: string,
  state: { done: number; total: number; seconds: number; hasEnded: boolean },
): void {
  const isTerminal = process.stdout.isTTY === true;
  if (!isTerminal && !state.hasEnded) return;
  const share = state.total === 0 ? Number(state.hasEnded) : state.done / state.total;
  const filled = Math.floor(Math.min(1, share) * width);
  const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
  const counts = `${state.done}/${state.total}`;
  const line = `${title.padEnd(26)} ${bar} ${counts.padStart(13)} ${state.seconds.toFixed(1)} s`;
  process.stdout.write(`${isTerminal ? '\r' : ''}${line}${state.hasEnded ? '\n' : ''}`);
}
