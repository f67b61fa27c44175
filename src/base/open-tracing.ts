// Sends traces to a collector by OTLP. Only a program that traces loads this file and the library.
// The library reads the address of the collector, its headers and certificates from the variables
// that OpenTelemetry defines (OTEL_EXPORTER_OTLP_*).
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from './log.ts';
import type { Span, SpanStart, Tracing } from './tracing.ts';

export type TracingOptions = {
  serviceName: string;
  /** The part of the traces that this program begins and sends, from 0 to 1. */
  ratio: number;
};

const limits = {
  /** Longer statements are cut. */
  textMax: 4_000,
  exportMs: 5_000,
  /** What a stopping program waits for a collector that does not answer. */
  stopMs: 3_000,
  /** A collector that is away is reported this often. */
  warnEveryMs: 60_000,
} as const;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

export function openTracing(options: TracingOptions, version: string, log: Log): Tracing {
  reportProblems(log);
  const own = resourceFromAttributes({
    'service.name': options.serviceName,
    'service.version': version,
    'process.pid': process.pid,
  });
  const named = detectResources({ detectors: [resourceAttributesEnvDetector] });
  const exporter = new OTLPTraceExporter();
  const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: limits.exportMs });
  const root = new TraceIdRatioBasedSampler(options.ratio);
  const provider = new TracerProvider({
    resource: own.merge(named),
    sampler: new ParentBasedSampler({ root }),
    spanLimits: { attributeValueLengthLimit: limits.textMax },
    spanProcessors: [processor],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('billwright', version);
  return {
    run: (start, work) => run(tracer, start, work),
    statement: (text, answer) => traceStatement(tracer, text, answer),
    ids: idsOfActive,
    async stop() {
      const late = sleep(limits.stopMs, 'late', { ref: false });
      const ended = await Promise.race([provider.shutdown().catch(() => 'failed'), late]);
      if (ended) log.warn('the last traces could not be sent: the collector did not take them');
    },
  };
}

function run<T>(tracer: Tracer, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  const { name, kind, attributes = {} } = start;
  const about = { kind: kinds[kind], attributes };
  return tracer.startActiveSpan(name, about, parentOf(start), async (span) => {
    try {
      return await work(handleOf(span));
    } catch (error) {
      endedBy(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** A request belongs to the trace of its caller; all else to the work that it is a part of. */
function parentOf({ headers }: SpanStart): Context {
  return headers ? propagation.extract(ROOT_CONTEXT, headers) : context.active();
}

function handleOf(span: OtelSpan): Span {
  return {
    note: (attributes) => void span.setAttributes(attributes),
    rename: (name) => void span.updateName(name),
    fail: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
  };
}

/** A program that looks for work each second would otherwise fill the collector with it. */
function traceStatement(tracer: Tracer, text: string, answer: Promise<unknown>): void {
  if (!trace.getActiveSpan()?.isRecording()) return;
  const command = text.trimStart().split(/\s/, 1)[0]?.toUpperCase() ?? '';
  // The text names parameters, and no values: nothing of a customer leaves the database by it.
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': command,
    'db.query.text': text,
  };
  const span = tracer.startSpan(command, { kind: SpanKind.CLIENT, attributes });
  answer.then(
    () => span.end(),
    (error) => {
      endedBy(span, error);
      span.end();
    },
  );
}

/** Messages of PostgreSQL may hold a customer's data, so that only their code is sent. */
function endedBy(span: OtelSpan, error: unknown): void {
  const { code, name = 'Error' } = error as { code?: unknown; name?: string };
  span.setAttribute('error.type', typeof code === 'string' ? code : name);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function idsOfActive() {
  const active = trace.getActiveSpan()?.spanContext();
  return active ? { traceId: active.traceId, spanId: active.spanId } : {};
}

function reportProblems(log: Log): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (message: string) => {
    const now = performance.now();
    if (now - warnedAt < limits.warnEveryMs) return;
    warnedAt = now;
    log.warn({ reason: message.slice(0, 500) }, 'traces could not be sent');
  };
  const ignore = () => {};
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
