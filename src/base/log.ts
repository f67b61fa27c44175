import { type DestinationStream, type Logger, pino } from 'pino';
import { LogOutput } from './log-output.ts';
import { traceIds } from './tracing.ts';

export type Log = Logger;

/** Names under which secrets travel. They are blanked in the log and in the audit trail alike. */
export const secretNames = [
  'password',
  'adminPassword',
  'clientSecret',
  'secret',
  'accessToken',
  'refreshToken',
  'authorization',
  'otp',
] as const;

export function createLog(options: { level: string; destination?: DestinationStream }): Log {
  const rules = {
    level: options.level,
    base: { pid: process.pid },
    mixin: traceIds,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[secret]',
    },
  };
  return pino(rules, options.destination ?? standardOutput());
}

let output: LogOutput | undefined;

/** All logs of a process write to one. */
function standardOutput(): LogOutput {
  output ??= new LogOutput();
  return output;
}

const secrets: ReadonlySet<string> = new Set(secretNames);

/** A deep copy in which every secret is blanked. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  // An instant has no fields of its own: it is its text.
  if (value instanceof Temporal.Instant || value instanceof Temporal.PlainDate) {
    return value.toString();
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secrets.has(name) ? '[secret]' : withoutSecrets(item),
    ]),
  );
}
