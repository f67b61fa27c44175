// Starts the console: the session of the browser, then the screens.
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './parts/frame.css';
import { Container, DirectionProvider, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries/base.ts';
import { resumeSession } from './api/session.ts';
import { startLanguage } from './language/start.ts';
import { Connection } from './parts/connection.tsx';
import { keepFocus } from './parts/keep-focus.ts';
import { Refusal } from './parts/notes.tsx';
import { lightOnPaper } from './parts/paper.tsx';
import { theme, variables } from './parts/theme.ts';
import { router } from './routes.tsx';

await startLanguage();
lightOnPaper();
const place = document.getElementById('root');
if (!place) throw new Error('index.html has no root');
keepFocus();
const page = createRoot(place);
await start();

/** The screens appear once it is known who uses them. Until the server answers, the page says so. */
async function start(): Promise<void> {
  show(
    <Before>
      <Connection />
    </Before>,
  );
  try {
    await queries.fetchQuery({ queryKey: ['session'], queryFn: resumeSession, gcTime: 0 });
    show(<RouterProvider router={router} />);
  } catch (error) {
    show(
      <Before>
        <Refusal error={error} onRetry={start} />
      </Before>,
    );
  }
}

function Before({ children }: { children: ReactNode }) {
  return (
    <Container component="main" p="md">
      {children}
    </Container>
  );
}

function show(content: ReactNode): void {
  page.render(
    <StrictMode>
      <DirectionProvider detectDirection>
        <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
          {/* Not over the actions of a page, which are at its top. */}
          <Notifications position="bottom-center" />
          <QueryClientProvider client={queries}>{content}</QueryClientProvider>
        </MantineProvider>
      </DirectionProvider>
    </StrictMode>,
  );
}
