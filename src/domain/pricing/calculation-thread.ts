// Checks definitions and prices imagined bills in a thread of its own: large ones take seconds.
import { getPriority, setPriority } from 'node:os';
import { type CalculationTask, calculate } from './calculation.ts';

/** Threads that answer calls come first. Linux alone takes this for one thread, not all. */
const nicer = 10;

if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + nicer));

export default function run(task: CalculationTask): unknown {
  return calculate(task);
}
