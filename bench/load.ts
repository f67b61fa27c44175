// A generator of load that costs little: it shares the machine with the server it measures, and
// what it takes itself it takes from both sides of a ratio, which brings them closer than they are.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Target = {
  name: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  body: () => string;
  /** What the head of every answer must contain. */
  expected: string;
};

/** Connections that are kept, each of which sends its next call when the last is answered. */
export class Load {
  readonly #target: Target;
  readonly #sockets: Socket[];
  readonly #head: string;

  private constructor(target: Target, sockets: Socket[]) {
    const headers = { Host: `127.0.0.1:${target.port}`, ...target.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#target = target;
    this.#sockets = sockets;
    this.#head = `POST ${target.path} HTTP/1.1\r\n${lines.join('')}`;
  }

  static async open(target: Target, connections: number): Promise<Load> {
    const opening = Array.from({ length: connections }, () => connected(target.port));
    return new Load(target, await Promise.all(opening));
  }

  /** Calls a second. */
  async run(seconds: number): Promise<number> {
    const started = performance.now();
    const end = started + seconds * 1000;
    const counts = await Promise.all(this.#sockets.map((socket) => this.#drive(socket, end)));
    const calls = counts.reduce((sum, count) => sum + count, 0);
    return calls / ((performance.now() - started) / 1000);
  }

  /** Milliseconds of every call, with a pause before the next one. */
  async times(seconds: number, pauseMs: number): Promise<number[]> {
    const end = performance.now() + seconds * 1000;
    const calling = this.#sockets.map(async (socket) => {
      const times: number[] = [];
      while (performance.now() < end) {
        const began = performance.now();
        // A drive whose end is past makes one call.
        await this.#drive(socket, began);
        times.push(performance.now() - began);
        await sleep(pauseMs);
      }
      return times;
    });
    return (await Promise.all(calling)).flat();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #drive(socket: Socket, end: number): Promise<number> {
    return new Promise((resolve, reject) => {
      let calls = 0;
      let answer: Buffer | undefined;
      const take = (bytes: Buffer) => {
        answer = answer ? Buffer.concat([answer, bytes]) : bytes;
        const head = wholeHead(answer);
        if (head === undefined) return;
        answer = undefined;
        calls += 1;
        if (!head.includes(this.#target.expected)) {
          reject(new Error(`${this.#target.name} answered ${head}`));
        } else if (performance.now() < end) {
          socket.write(this.#call());
        } else {
          socket.off('data', take).off('error', reject);
          resolve(calls);
        }
      };
      socket.on('data', take).on('error', reject);
      socket.write(this.#call());
    });
  }

  #call(): string {
    const body = this.#target.body();
    const length = Buffer.byteLength(body);
    return `${this.#head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
  }
}

/** The head of an answer that is there to its last byte; undefined while some of it is missing. */
function wholeHead(answer: Buffer): string | undefined {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = answer.toString('latin1', 0, end).toLowerCase();
  const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`);
  return answer.length < end + 4 + length ? undefined : head;
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.off('error', reject)));
    socket.setNoDelay(true).on('error', reject);
  });
}
