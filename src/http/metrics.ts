import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../base/db/pool.ts';
import type { Operation } from '../operations/operation.ts';
import { createOperationMetrics } from './operation-metrics.ts';

export type Metrics = {
  /** All figures as text, with jobs, deliveries and workers as they are now. */
  text(): Promise<string>;
  contentType: string;
  observe(operation: Operation | undefined, statusCode: number, seconds: number): void;
};

export function createMetrics(database: Database): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const calls = new Histogram({
    name: 'billwright_call_seconds',
    help: 'Time to answer a call, by operation and status code of the envelope',
    labelNames: ['operation', 'status_code'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'billwright_database_connections',
    help: 'Connections of the pool that serves calls',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      this.set({ state: 'open' }, database.pool.totalCount);
      this.set({ state: 'idle' }, database.pool.idleCount);
      this.set({ state: 'waited_for' }, database.pool.waitingCount);
    },
  });
  void connections;
  // The series of an operation and status is looked up once, because resolving labels is slow.
  const series = new Map<Operation | undefined, Map<number, Series>>();
  const refresh = createOperationMetrics(registry, database);
  return {
    contentType: registry.contentType,
    async text() {
      await refresh();
      return registry.metrics();
    },
    observe(operation, statusCode, seconds) {
      const known = series.get(operation)?.get(statusCode);
      if (known) {
        known.observe(seconds);
        return;
      }
      const made = calls.labels(operationLabel(operation), String(statusCode));
      const ofOperation = series.get(operation) ?? new Map<number, Series>();
      series.set(operation, ofOperation.set(statusCode, made));
      made.observe(seconds);
    },
  };
}

type Series = { observe(seconds: number): void };

/** What an operation is called in metrics and in the log. */
export function operationLabel(operation: Operation | undefined): string {
  return operation ? `${operation.path} ${operation.action}` : 'unknown';
}
