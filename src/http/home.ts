// The page at /: says what answers here, and where to go on. It loads nothing.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Console } from './console.ts';

const style = `
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto 4rem; padding: 0 1.25rem; }
h1 { font-size: 2rem; margin: 0; }
p { margin: .75rem 0; }
ul { list-style: none; margin: 1.75rem 0; padding: 0; }
li { margin: .9rem 0; }
a { font-weight: 600; }
li span { display: block; opacity: .75; }
code { font-size: .92em; overflow-wrap: anywhere; }
`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Billwright</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>Billwright</h1>
<p>This is a billing and receivables server. Programs use it by its API: each call is a POST to
<code>/billing/…</code> at the address of a workspace, such as
<code>demo.localhost</code> for the workspace demo.</p>
<ul>
<li><a href="/docs">API reference</a>
<span>All operations with fields, examples and errors. It begins with how to log in.</span></li>
<li><a href="/openapi.json">OpenAPI description</a>
<span>The same as JSON, for programs that generate clients.</span></li>
<li><a href="/health">Health</a>
<span>Answers while the server runs. <a href="/ready">Ready</a> also asks the database.</span></li>
</ul>
</main>
</body>
</html>
`;

const styleHash = createHash('sha256').update(style).digest('base64');
const contentSecurityPolicy =
  `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** At the address of a workspace the console is at home; this page is for all others. */
export function registerHome(server: FastifyInstance, console: Console): void {
  server.get('/', async (request, reply) => {
    const opened = await console.answerPage(request, reply);
    if (opened) return opened;
    return reply
      .header('Content-Security-Policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page);
  });
}
