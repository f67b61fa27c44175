// Browsers know that every name below localhost is this machine. Node asks the operating system,
// and some systems do not know the name.
import { request } from 'node:http';

export const fetchLocally: typeof globalThis.fetch = async (address, options = {}) => {
  const url = new URL(String(address));
  const isLocal = url.protocol === 'http:' && url.hostname.endsWith('.localhost');
  return isLocal ? sendToThisMachine(url, options) : globalThis.fetch(address, options);
};

function sendToThisMachine(url: URL, options: RequestInit): Promise<Response> {
  const { host, port, pathname } = url;
  const { method = 'GET', body, signal } = options;
  const headers = { ...(options.headers as Record<string, string>), host };
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path: pathname, method, headers, ...(signal ? { signal } : {}) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const named = Object.entries(response.headersDistinct);
          const received = named.flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          );
          const { statusCode: status = 200 } = response;
          resolve(new Response(Buffer.concat(chunks), { status, headers: received }));
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
