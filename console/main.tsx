// Starts the console: the session of the browser, then the screens.
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './parts/frame.css';
import { DirectionProvider, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries/base.ts';
import { resumeSession } from './api/session.ts';
import { startLanguage } from './language/start.ts';
import { keepFocus } from './parts/keep-focus.ts';
import { lightOnPaper } from './parts/paper.tsx';
import { theme, variables } from './parts/theme.ts';
import { router } from './routes.tsx';

await Promise.all([startLanguage(), resumeSession()]);
lightOnPaper();
const place = document.getElementById('root');
if (!place) throw new Error('index.html has no root');
keepFocus();
createRoot(place).render(
  <StrictMode>
    <DirectionProvider detectDirection>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        {/* Not over the actions of a page, which are at its top. */}
        <Notifications position="bottom-center" />
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </DirectionProvider>
  </StrictMode>,
);
