// Traces: what a call, a chunk of a job, a mail or a webhook does, and how long each part takes.
// They are off unless the environment names a collector; then they cost one comparison each.
import type { IncomingHttpHeaders } from 'node:http';

export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** Name and attributes of a part of the work, when it begins. */
export type SpanStart = {
  name: string;
  kind: 'server' | 'client' | 'consumer';
  attributes?: SpanAttributes;
  /** Of a request: its traceparent says which trace the caller has begun. */
  headers?: IncomingHttpHeaders;
};

/** A part of the work under way. What it turns out to be is noted on it. */
export type Span = {
  note(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** The work came to an answer, and the answer says that it failed. */
  fail(reason: string): void;
};

export type Tracing = {
  run<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** A statement of PostgreSQL, if it belongs to work that is traced. */
  statement(text: string, answer: Promise<unknown>): void;
  /** Ids of the work under way, for its lines in the log. */
  ids(): TraceIds;
  stop(): Promise<void>;
};

export type TraceIds = { traceId?: string; spanId?: string };

let tracing: Tracing | undefined;

/** From now on, what this process does is traced. */
export function useTracing(wanted: Tracing | undefined): void {
  tracing = wanted;
}

/** Runs the work as a part of the trace. Without tracing there is no span. */
export function traced<T>(start: SpanStart, work: (span?: Span) => Promise<T>): Promise<T> {
  return tracing ? tracing.run(start, work) : work();
}

/** Notes a statement that was sent, and hands on the promise of its answer. */
export function tracedStatement<T>(text: string, answer: Promise<T>): Promise<T> {
  tracing?.statement(text, answer);
  return answer;
}

/** A new object each time: the log adds its line to it. */
export function traceIds(): TraceIds {
  return tracing ? tracing.ids() : {};
}

/** Sends what is not sent yet. */
export async function stopTracing(): Promise<void> {
  const running = tracing;
  tracing = undefined;
  await running?.stop();
}
