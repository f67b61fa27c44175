// What the packages for clients say of themselves.

export const javaScriptReadme = `# @billwright/client

For developers who call the Billwright billing API from JavaScript or TypeScript, in Node 20 or
newer or in a browser. It has no dependencies.

\`\`\`js
import { BillingError, createClient } from '@billwright/client';

const billing = createClient({ baseUrl: 'http://demo.localhost:8080' });
const login = { username: 'admin@demo.example', password: 'billwright-demo' };
const { data } = await billing.login(login);
billing.useToken(data.accessToken);

const made = await billing.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
console.log(made.headers.get('X-Party-Number'));
\`\`\`

Every operation of the API is a method with the types of its request and its data. A call that the
server refuses throws a \`BillingError\` with \`code\`, \`statusCode\` and \`error.field\`:

\`\`\`js
try {
  await billing.getUsers({ partyNumber: 1 });
} catch (error) {
  if (error instanceof BillingError && error.code === 'PARTY_NOT_FOUND') { /* … */ }
}
\`\`\`

\`{ idempotencyKey }\` as the second argument makes a repeated call safe: the server answers it from
what it stored, and does nothing twice.
`;

export const pythonReadme = `# billwright

For developers who call the Billwright billing API from Python 3.11 or newer. It needs no other
package.

\`\`\`python
from billwright import BillingError, Client

billing = Client("http://demo.localhost:8080")
login = billing.login(username="admin@demo.example", password="billwright-demo")
billing.token = login.data["accessToken"]

made = billing.make_users(userType="customer", users=[{"name": "A. Khan"}])
print(made.headers["X-Party-Number"])
\`\`\`

Every operation of the API is a method with typed parameters; mypy and pyright know the fields. A
call that the server refuses raises \`BillingError\` with \`code\`, \`status_code\` and \`field\`.
\`idempotency_key\` makes a repeated call safe.
`;

export function pythonProject({ version, license }: { version: string; license: string }): string {
  return `[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "billwright"
version = "${version}"
description = "Typed client for the Billwright billing API"
readme = "README.md"
license = "${license}"
requires-python = ">=3.11"

[tool.setuptools]
packages = ["billwright"]

[tool.setuptools.package-data]
billwright = ["py.typed"]
`;
}
