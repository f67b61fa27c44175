/** The command line was not understood: its message is printed, and the exit code is 2. */
export class UsageError extends Error {}
