// The API's description and its interactive reference, served from files of our own: no network.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../operations/operation.ts';
import { describeApi } from './openapi.ts';

const assets = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui-standalone-preset.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
]);

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Billwright</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const startScript = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

export function registerDocs(
  server: FastifyInstance,
  operations: readonly (readonly [string, Operation])[],
): void {
  let description: string | undefined;
  server.get('/openapi.json', async (_request, reply) => {
    description ??= JSON.stringify(describeApi(operations));
    return reply.type('application/json').send(description);
  });
  for (const path of ['/docs', '/docs/']) {
    server.get(path, async (_request, reply) => {
      return reply
        .header('Content-Security-Policy', contentSecurityPolicy)
        .type('text/html; charset=utf-8')
        .send(page);
    });
  }
  server.get('/docs/start.js', async (_request, reply) => {
    return reply.type('text/javascript').send(startScript);
  });
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const [name, type] of assets) {
    server.get(`/docs/${name}`, async (_request, reply) => {
      return reply.type(type).send(await readFile(join(folder, name)));
    });
  }
}
