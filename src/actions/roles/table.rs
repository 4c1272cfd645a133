//! The names of the tools of agents people run, folded as `roles::fold` folds them.

use crate::model::Role;

/// Role, and the names that have it, parted by spaces.
pub(super) const TABLE: &[(Role, &str)] = &[
    (
        Role::Edit,
        "edit editfile editfiles writefile write writetofile writefiles multiedit \
         notebookedit editnotebook editnotebookcell applypatch applydiff patch patchfile save \
         savefile append appendfile appendtofile replace replaceinfile replacestringinfile \
         multireplacestringinfile strreplace strreplaceeditor strreplacebasededittool \
         strreplacebasededit texteditor insertcontent inserteditintofile insert insertline \
         insertlines searchandreplace searchreplace createfile createnewfile create \
         createorupdatefile updatefile deletefile deletefiles removefile movefile renamefile \
         copyfile createdirectory makedirectory mkdir undoedit modifyfile overwritefile \
         rewritefile filewrite fileedit replacesymbolbody insertaftersymbol \
         insertbeforesymbol replaceregex replacelines deletelines pushfiles editblock \
         writecode updatecode fileeditor planningfileeditor patchmany morph fswrite fsappend \
         fsreplace editexistingfile singlefindandreplace codeedit replacefilecontent \
         multireplacefilecontent proposecode copypath movepath deletepath \
         createfileormultiplefiles createorupdatefiles writenotebook editnotebookfile \
         updatenotebookcell insertedit applyedit applyedits applytextedits writetofilesystem \
         filewriter filesave editanthropic inserttext appendtext writefilecontents \
         editfilelines editlines smartrelocate renamesymbol rewritefilecontents",
    ),
    (
        Role::Verify,
        "runtests runtest runpytest npmtest runtestsuite cargotest gotest pytest jest vitest \
         runchecks runlint runlinter lint typecheck runtypecheck smoketest runsmoketest \
         runtestfiles executetests testrunner mvntest gradletest rununittests unittest \
         unittests rspec testfailure runci verify runverification getdiagnostics diagnostics \
         geterrors lspdiagnostics idediagnostics mcpidegetdiagnostics runtestcase dotnettest \
         rununittest runtestsuites executetest runpytests runcargotest runnpmtest rungotest \
         cargocheck cargoclippy runtypechecker runchecksuite",
    ),
    (
        Role::Read,
        "read readfile readfiles readmanyfiles readmultiplefiles readtextfile readmediafile \
         view viewfile viewimage cat open openfile goto scrolldown scrollup ls list listfiles \
         listdir listdirectory listdirectorywithsizes directorytree tree notebookread \
         getfileinfo getfilecontents listalloweddirectories listcodedefinitionnames filetree \
         readnotebook readweb todoread readmemory readmcpresource listmcpresources \
         accessmcpresource gitstatus gitdiff gitdiffunstaged gitdiffstaged gitlog gitshow \
         fileread readlints getsymbolsoverview readtodo lookup status readpdf readresource \
         viewsource browsersnapshot browsertakescreenshot screenshot fsread readsinglefile \
         viewlinerange viewfileoutline viewcodeitem readcodeitem readfolder ideopenfile \
         getopenfiles getsearchview listallresources taskget tasklist getfile getfilecontent \
         showfile headfile gitbranch listmcpresourcestool readmcpresourcetool \
         browserconsolemessages browsernetworkrequests takesnapshot takescreenshot \
         puppeteerscreenshot browserscreenshot listpages listconsolemessages \
         listnetworkrequests getnetworkrequest getconsolemessage screencapture listwindows \
         repomap getrepomap internaldocs getinternaldocs clihelp analyze readprocess \
         listsessions listprocesses searchextensions getchangedfiles viewdiff getselection \
         imageview imageprocessor describeimage documentsymbols workspacesymbols \
         gotodefinition lsp querydocs getlibrarydocs resolvelibraryid bravelocalsearchdetails \
         todoreadlist",
    ),
    (
        Role::Search,
        "grep glob search searchfiles searchfile searchdir findfile findfiles filesearch \
         grepsearch codebasesearch searchfilecontent searchcode ripgrep rg websearch \
         googlewebsearch googlesearch bravewebsearch tavilysearch duckduckgosearch searchweb \
         toolsearch semanticsearch findsymbol findreferencingsymbols searchforpattern \
         searchcodebase find internetsearch wikipedia searxng exasearch grepfiles globfiles \
         fileglobsearch findbyname findpath searchtext findreferences bravelocalsearch \
         websearchexa getcodecontextexa tavilymap firecrawlsearch firecrawlmap sourcegraph \
         searchproject searchsymbols startsearch getmoresearchresults retrievememories \
         searchavailableextensions codesearch repocodesearch searchrepositories \
         internetsearchtool serpersearch perplexitysearch kagisearch linkupsearch bingsearch \
         yahoosearch arxivsearch pubmedsearch",
    ),
    (
        Role::Shell,
        "bash sh shell zsh terminal runshellcommand runcommand runcommands executecommand \
         execcommand executebash runinterminal runterminalcmd runterminalcommand localshell \
         localshellcall shellcommand shellexec shelltool bashtool powershell pwsh cmd exec \
         execute run command commandline containerexec unifiedexec executeshell \
         executeshellcommand runbash runshell terminalexec startprocess python ipython \
         executeipythoncell executepython runpython pythonrepl pythonrepltool executecode \
         runcode codeinterpreter jupyter executecell runcell pythoninterpreter tmux js \
         executejavascript runpythoncode codeexecution runnotebookcell terminalcommand \
         runterminalcommandtool executepwsh pwshtool interactwithprocess \
         executeterminalcommand executeshellscript runscript executescript processexecute \
         cmdrun shellrun runinshell sandboxexec sandboxrun sandboxexecute usecomputershell \
         bashsession runinsandbox commandexecution commandexec jsrepl bashcodeexecution \
         codeexecutiontool executejs automationscript",
    ),
    (
        Role::Fetch,
        "fetch webfetch fetchwebpage fetchurl httprequest httpget httppost browser \
         browsernavigate navigate navigatepage openurl visit visitwebpage browse browseweb \
         webbrowser requests curl download downloadfile gotourl browseraction scrape \
         scrapeurl crawl urlfetch geturl fetchhtml loadurl extracturl webscrape \
         firecrawlscrape newpage readurl urlopen agenticfetch browsernavigateback \
         puppeteernavigate playwrightnavigate readurlcontent readweburl webread webscraper \
         tavilyextract tavilycrawl crawling crawlingexa firecrawlcrawl firecrawlextract \
         opensimplebrowser browserpreview simplebrowser browseropen browserlaunch gotopage \
         opentab browsertabnew fetchcontent fetchmarkdown fetchjson fetchtxt fetchtext \
         getpage requestsget requestspost requestsdelete requestspatch requestsput apirequest \
         restrequest webpage loadpage downloadurl",
    ),
    (
        Role::Delegate,
        "task agent newtask spawnagent delegate delegatework delegateworktocoworker \
         askquestiontocoworker dispatchagent sendmessage subagent runsubagent runagent \
         callagent handoff invokeagent transfertoagent sendinput createtask startagent \
         consultagent delegatetoagent delegatetotask subagentexecutetask \
         dynamictaskcreatetask codebaseinvestigator spawnagentsoncsv resumeagent browseragent \
         generalist assigntask consult runsubagenttask launchagent calltoagent \
         sendmessagetoagent taskdelegate",
    ),
    (
        Role::Poll,
        "bashoutput taskoutput writestdin readoutput joblog joblogs getterminaloutput \
         readterminal getprocessoutput readprocessoutput shelloutput agentoutputtool \
         agentoutput readbackgroundoutput getbackgroundoutput processoutput getoutput \
         gettaskoutput tailoutput readbash processlog terminaloutput getcommandoutput \
         commandstatus getjoblog getjoblogs joboutput readcommandoutput monitor \
         getprocessstatus getbackgroundprocessoutput readshell shellviewoutput shellview \
         awaitterminal terminallastcommand terminalread getshelloutput getbashoutput \
         processread gettaskstatusoutput tailprocess tailoutputs readlogs tailjoblog \
         waitagent workflowrunlogs getworkflowrunlogs",
    ),
    (
        Role::Wait,
        "wait sleep waitms waitseconds delay pause browserwait waitfor browserwaitfor idle \
         waitfortime",
    ),
    (
        Role::Ask,
        "askuser askuserquestion askfollowupquestion requestuserinput askhuman humaninput \
         human askquestion askquestions getuserinput clarify requestclarification askforhelp \
         requestapproval confirm chooseoption question elicit askforclarification \
         requestinput getinput askuserinput notifyuser askforapproval askapproval \
         planmoderespond humanassistance askhumaninput humanintheloop",
    ),
    (
        Role::Finish,
        "finalanswer submit finish attemptcompletion complete completetask taskcomplete \
         taskdone done submitanswer finaloutput finalresult terminate endtask finishtask \
         submitresult taskcompletion respondtouser exitsubmit submitfinal submitpatch \
         submitsolution returnresult returnanswer finishrun completejob actmoderespond \
         agentfinish",
    ),
    (
        Role::Other,
        "think todowrite updateplan exitplanmode plan updatetodolist writetodos \
         managetodolist savememory switchmode skill slashcommand tasktracker note killshell \
         killbash taskstop thinking sequentialthinking brainstorm taskcreate taskupdate \
         updatetopic todolist todo managetodos createtodolist updatetodos activateskill \
         useskill loadskill enterplanmode planenter planexit newrule condense focuschain \
         remembermemory memory updatememory knowledge croncreate crondelete enterworktree \
         exitworktree killterminal killprocess jobkill forceterminate controlpwshprocess \
         closeagent batch batchtool usemcptool runslashcommand applyrule fetchrules restart \
         reportissue choice",
    ),
];
