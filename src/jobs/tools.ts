// What steps work with besides the database.
import type { Database } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import type { Mailer } from '../base/mail/mailer.ts';
import type { MailBreaker } from '../domain/delivery/mail-breaker.ts';
import type { Renderer } from '../domain/delivery/renderer.ts';

/** Opened once by the process that runs jobs. */
export type Equipment = {
  renderer: Renderer;
  mailer: Mailer;
  /** Mails that one chunk of a job has on their way at the same time. */
  mailsAtOnce: number;
  /** Of the sender, for the ids of mails. */
  mailDomain: string;
  breaker: MailBreaker;
  dataFolder: string;
};

export type Tools = Equipment & {
  /** For what must be stored before the chunk ends, or whether it does or not. */
  database: Database;
  log: Log;
  /** True once the worker is to end: a chunk with much left to do ends early. */
  isStopping(): boolean;
};
