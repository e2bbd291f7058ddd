import { libraryLoggers } from '@edge-gateway/core';

// Tests provoke failures by the hundred; those that look at the default log turn it on.
libraryLoggers.setLevel('off');
