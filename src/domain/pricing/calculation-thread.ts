// Checks definitions and prices imagined bills in a thread of its own: large ones take seconds.
import { setPriority } from 'node:os';
import { type CalculationTask, calculate } from './calculation.ts';

/** Below the threads that answer calls. Linux alone takes this for one thread, not all. */
const threadPriority = 10;

if (process.platform === 'linux') setPriority(threadPriority);

export default function run(task: CalculationTask): unknown {
  return calculate(task);
}
