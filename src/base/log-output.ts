// Standard output as the log uses it: written in the background and in order. If the reader takes
// no more lines, they are lost, and the log reports it later: a log must not keep the program from
// running, nor from ending after its reader is gone. At the end the program waits only for a reader
// that is alive with a full pipe, as every program does: the thread that writes cannot be called
// back.
import { write, writeSync } from 'node:fs';

const standardOutput = 1;
/** Beyond this, lines are dropped: a reader that stopped reading must not fill the memory. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** Bytes that a pipe takes as one piece while the worker, or the end below, writes to it too. */
const pieceBytes = 4_096;
/** A reader that is only slow is waited for: while running as long as it takes, then a second. */
const retryMs = 100;
const retriesAtEnd = 10;
const lossNotice = '{"level":40,"msg":"lines of this log were lost before this one"}\n';

export class LogOutput {
  #lines: Buffer[] = [];
  #waitingBytes = 0;
  #hasLost = false;
  #isWriting = false;
  #whenIdle: (() => void)[] = [];

  constructor() {
    process.once('exit', () => this.#writeRest());
  }

  write(line: string): void {
    if (this.#waitingBytes > maxWaitingBytes) {
      this.#hasLost = true;
      return;
    }
    if (this.#hasLost) this.#queue(lossNotice);
    this.#hasLost = false;
    this.#queue(line);
    if (!this.#isWriting) this.#writeNext();
  }

  /** Calls back when every line is written, or lost. */
  flush(done: () => void): void {
    if (this.#isWriting) this.#whenIdle.push(done);
    else done();
  }

  #queue(line: string): void {
    const bytes = Buffer.from(line);
    this.#lines.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #writeNext(): void {
    const piece = this.#takePiece();
    this.#isWriting = piece.length > 0;
    if (this.#isWriting) this.#send(piece);
    else for (const done of this.#whenIdle.splice(0)) done();
  }

  #send(bytes: Buffer): void {
    write(standardOutput, bytes, (error, written) => {
      if (isBusy(error)) {
        setTimeout(() => this.#send(bytes), retryMs);
      } else if (!error && written < bytes.length) {
        this.#send(bytes.subarray(written));
      } else {
        // The reader has ended, or the disk is full. Either may be different for the next line.
        if (error) this.#hasLost = true;
        this.#writeNext();
      }
    });
  }

  /** At the end of the process nothing is written in the background any more. */
  #writeRest(): void {
    let retries = retriesAtEnd;
    let bytes = this.#takePiece();
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(standardOutput, bytes));
        if (bytes.length === 0) bytes = this.#takePiece();
      } catch (error) {
        if (!isBusy(error) || retries === 0) return;
        retries -= 1;
        sleep(retryMs);
      }
    }
  }

  /** Whole lines, and at least one if there is any. */
  #takePiece(): Buffer {
    let count = 0;
    let size = 0;
    for (const { length } of this.#lines) {
      if (count > 0 && size + length > pieceBytes) break;
      count += 1;
      size += length;
    }
    this.#waitingBytes -= size;
    return Buffer.concat(this.#lines.splice(0, count), size);
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EAGAIN' || code === 'EBUSY';
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
