// Chromium's document for the host: a service worker can start no workers and is stopped when idle.
import { startHost } from './host.js';

void startHost();
